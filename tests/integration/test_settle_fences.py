"""A run with several fences: one in danger does not keep the others from their end."""

import uuid
from collections.abc import Iterator
from datetime import timedelta

import pytest
from pytest_django import Settings

from portal.act.models import ActFence, BackupBatch
from portal.act.services import act_settle, purge_prepare
from portal.lake.errors import DataSafetyError
from stack.stack import Stack
from tests.support.act_lake import DAY, ActLake
from tests.support.act_portal import ActPortal, instant

pytestmark = pytest.mark.django_db


@pytest.fixture
def portal(embedded_stack: Stack, settings: Settings) -> Iterator[ActPortal]:
    """A fresh lake, acted on as the portal does."""
    settings.LAKEWARDEN_LAKES = str(embedded_stack.lakes_file)
    lake = ActLake(embedded_stack.config("main"), uuid.uuid4().hex[:8])
    lake.fs.make_directories(lake.root, mode=0o700)
    yield ActPortal(lake)
    lake.metastore.close()


def test_a_fence_in_danger_leaves_the_other_days_free(portal: ActPortal) -> None:
    portal.drop(portal.lake.make_table("first"))
    portal.drop(portal.lake.make_table("later"), day=DAY + timedelta(days=1))
    rows = list(BackupBatch.objects.order_by("id"))
    run = portal.new_run("purge")
    claims = purge_prepare(run, batches=rows, now=instant())["claims"]
    claimed = portal.lake.config.path(claims[0]["directory"])
    intent = claimed.child(f"intent.{claims[0]['batch']}.json")
    whole = portal.lake.fs.read(intent)
    portal.lake.fs.replace(intent, whole[:-9])
    with pytest.raises(DataSafetyError, match="cannot be read"):
        act_settle(run, now=instant())
    homes = [portal.lake.config.path(row.path) for row in rows]
    assert all(portal.lake.fs.status(home) is not None for home in homes)
    is_open = ActFence.objects.filter(run_id=run.pk, closed_at=None)
    assert [fence.day for fence in is_open] == [DAY]
    rotten = homes[0].child(intent.name)
    portal.lake.fs.replace(rotten, whole)
    act_settle(run, now=instant())
    assert not is_open.all().exists()
