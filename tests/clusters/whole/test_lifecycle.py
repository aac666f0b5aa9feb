"""Scan, notice, plan, approve, drop and restore, each job an application of the cluster."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils import timezone

from lifecycle.backup.models import BackupBatch
from lifecycle.drop.services.execution import plans_start_due
from lifecycle.inventory.services.scan import scan_request_daily
from lifecycle.models import PlanState
from lifecycle.restore.selectors.backups import BackupChoice
from lifecycle.restore.services.backups import (
    RestoreParams,
    restore_preview_request,
    restore_run_of,
)
from portal.lake.clock import day_of
from portal.notices.services import notices_send
from portal.runs.requests.services import run_drive
from stack.cluster_stack import ClusterStack
from tests.clusters.whole.driven import driven
from tests.support.plan_story import LAKE, Story
from tests.support.scan_lake import NOW

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.spark,
    pytest.mark.timeout(900, func_only=True),
]


@pytest.fixture
def story(portal: ClusterStack) -> Iterator[Story]:
    """A partitioned table of alice's, three of whose partitions are over."""
    made = Story(portal.config(), f"{portal.lake_root}/story")
    yield made
    made.lake.metastore.close()


def test_scan_drop_and_restore_on_the_cluster(story: Story) -> None:
    for now in (NOW - timedelta(days=8), NOW):
        scan = driven(scan_request_daily(LAKE, now=now))
        assert scan.result is not None
        assert scan.result["n_partitions"] == len(story.places)
        notices_send(now=now, today=day_of(now, story.config.zone))
    plan = story.plan(NOW)
    assert plan.state == PlanState.PENDING, (plan.ended_reason, plan.left_out)
    assert (plan.n_items, plan.left_out) == (3, {"NOT_DUE": 1})
    story.approve(plan, NOW)
    before = {name: story.files(name) for name in story.places}

    (drop,) = plans_start_due(NOW + timedelta(seconds=1))
    driven(drop, queue="root.governance")
    plan.refresh_from_db()
    assert (plan.state, plan.outcome["counts"]) == (PlanState.DONE, {"DROPPED": 3})
    assert story.partitions() == ["dt=young"]
    assert [story.files(name) for name in sorted(before)] == [[], [], [], before["dt=young"]]
    batch = BackupBatch.objects.get(plan_id=str(plan.pk))
    assert (batch.n_items, batch.table_owner, batch.state) == (3, "alice", "DROPPED")

    choice = BackupChoice(day=batch.day, db=story.db, table="visits")
    wish = RestoreParams(choice, "needed", straight_on=True)
    alice = story.people["alice"]
    # A worker looks; only what changes something is an application.
    preview = run_drive(restore_preview_request(LAKE, wish, user=alice, now=timezone.now()).pk)
    assert preview.state == "DONE", preview.error
    restore = restore_run_of(preview)
    assert restore is not None
    driven(restore)
    assert story.partitions() == sorted(story.places)
    assert {name: story.files(name) for name in before} == before
    batch.refresh_from_db()
    assert (batch.state, batch.n_restored) == ("RESTORED", 3)
