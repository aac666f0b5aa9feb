"""Settling by the services: one fence in danger leaves the others free; manifests are checked."""

import uuid
from collections.abc import Iterator
from datetime import timedelta

import pytest
from pytest_django import Settings

from lifecycle.backup.domain.layout import intent_name, restore_intent_name
from lifecycle.backup.engine.journal.reading import read_batch
from lifecycle.backup.engine.journal.records import ItemTarget, RestoreIntent
from lifecycle.backup.models import ActFence, BackupBatch
from lifecycle.backup.services.fencing import purge_prepare, restore_prepare
from lifecycle.backup.services.settling import act_settle
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


def test_a_broken_restore_is_not_settled_by_a_changed_manifest(
    portal: ActPortal,
) -> None:
    portal.drop(portal.lake.make_table("parts", keys=("dt",), values=[("a",), ("b",)]))
    row = BackupBatch.objects.get()
    run = portal.new_run("restore")
    (claim,) = restore_prepare(run, batches=[row], now=instant())["claims"]
    fs, claimed = portal.lake.fs, portal.lake.config.path(claim["directory"])
    items = read_batch(fs, claimed, row.batch).intent.items
    step = RestoreIntent(
        restore=str(run.pk),
        restore_epoch=1,
        batch=row.batch,
        at=instant().isoformat(),
        db=row.db,
        table=row.table,
        location="",
        items=tuple(ItemTarget(one.item, one.partition, one.source) for one in items),
    )
    fs.write_new(claimed.child(restore_intent_name(str(run.pk), 1, row.batch)), step.to_bytes())
    path = claimed.child(intent_name(row.batch))
    written = fs.read(path)
    fs.replace(path, written.replace(b"alice", b"mallory"))
    with pytest.raises(DataSafetyError, match="is not the one that was written"):
        act_settle(run, now=instant())
    sealed = portal.lake.config.path(row.path)
    fs.replace(sealed.child(intent_name(row.batch)), written)
    assert act_settle(run, now=instant()) == {"SKIPPED": len(items)}
