"""The main job through the portal's own services: scan, notice, plan, approve, drop, restore.

Real metastore, real files, real Spark, real SMTP; only the days are played. On the full stack what
drops and what restores is an application of the cluster; all other jobs run in this process.
"""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from pytest_django import Settings

from lifecycle.backup.engine.protocol import WINDOW
from lifecycle.backup.models import BackupBatch, Hold
from lifecycle.drop.services.execution import plans_start_due
from lifecycle.models import BackupSlice, DropPlan, PlanState
from lifecycle.restore.selectors.backups import BackupChoice
from lifecycle.restore.services.backups import (
    RestoreParams,
    backup_items_request,
    restore_preview_request,
    restore_run_of,
)
from lifecycle.restore.services.undo import UndoParams, restore_undo_request
from lifecycle.schedule.services import daily_cycle
from portal.audit.models import AuditEvent
from portal.lake.errors import StaleState
from portal.runs.models import Run
from portal.runs.requests.services import run_drive
from stack.stack import Stack
from tests.support.plan_story import LAKE, Story, use_stack
from tests.support.run_here import launched_here
from tests.support.scan_lake import NOW

ON_THE_CLUSTER = {
    "lifecycle.drop.jobs",
    "lifecycle.restore.jobs.restore",
    "lifecycle.restore.jobs.undo",
}
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]


@pytest.fixture(params=[pytest.param("embedded_stack", marks=pytest.mark.long), "full_stack"])
def story(request: pytest.FixtureRequest, tmp_path: Path, settings: Settings) -> Iterator[Story]:
    """The story's lake on Derby and local files, then on MariaDB, HDFS and standalone Spark."""
    stack: Stack = request.getfixturevalue(request.param)
    use_stack(settings, stack, var=tmp_path)
    made = Story(stack.config(LAKE), f"{stack.lake_root}/story")
    beside = ON_THE_CLUSTER if request.param == "full_stack" else set()
    with launched_here(request.getfixturevalue("spark"), beside=beside):
        yield made
    made.lake.metastore.close()


@pytest.mark.rows("L6", "L7", "L9", "N1", "N5")
def test_scan_notice_plan_approve_drop_and_restore(story: Story) -> None:
    lines: list[str] = []
    daily_cycle(LAKE, now=NOW - timedelta(days=8), say=lines.append)
    early = story.plan(NOW - timedelta(days=8))
    assert early.state == PlanState.NOT_CREATED
    assert early.left_out["NOT_ANNOUNCED"] == 3
    daily_cycle(LAKE, now=NOW, say=lines.append)
    plan = story.plan(NOW)
    assert plan.state == PlanState.PENDING, (plan.ended_reason, plan.left_out)
    assert (plan.n_items, plan.left_out) == (3, {"NOT_DUE": 1})
    story.approve(plan, NOW)
    before = {name: story.files(name) for name in story.places}

    # Somebody writes between approval and drop: left out, reported, untouched.
    written = story.config.path(story.places["dt=written"])
    story.lake.fs.write_new(written.child("new"), b"fresh")
    (run,) = plans_start_due(NOW + timedelta(seconds=1))
    assert run_drive(run.pk).state == "DONE", Run.objects.get(pk=run.pk).error
    plan.refresh_from_db()
    assert plan.state == PlanState.DONE
    assert plan.outcome["counts"] == {"DROPPED": 2, "SKIPPED": 1}
    skipped = plan.results.get()
    assert skipped.partition == "dt=written"
    assert skipped.reason
    assert story.partitions() == ["dt=written", "dt=young"]
    assert story.files("dt=old") == []
    batch = BackupBatch.objects.get(plan_id=str(plan.pk))
    assert (batch.n_items, batch.table_owner, batch.state) == (2, "alice", "DROPPED")
    dropped = AuditEvent.objects.filter(action="item.dropped", data__plan=str(plan.pk))
    assert dropped.count() == 2
    the_run_tells_its_window_and_each_refusal(plan, f"{story.name}/dt=written")
    again = story.plan(NOW)
    assert (again.n_items, again.left_out) == (1, {"DROPPED": 2, "NOT_DUE": 1})

    look = run_drive(
        backup_items_request(batch.public_id, user=story.people["alice"], now=timezone.now()).pk
    )
    assert look.state == "DONE", look.error
    assert BackupSlice.objects.filter(batch=batch).count() == 2

    wish = RestoreParams(
        BackupChoice(day=batch.day, db=story.db, table="visits"), "needed", straight_on=True
    )
    alice = story.people["alice"]
    preview = run_drive(restore_preview_request(LAKE, wish, user=alice, now=timezone.now()).pk)
    assert preview.state == "DONE", preview.error
    assert preview.result is not None
    assert preview.result["counts"] == {"RESTORE": 2}
    restore = restore_run_of(preview)
    assert restore is not None
    assert run_drive(restore.pk).state == "DONE", Run.objects.get(pk=restore.pk).error
    assert story.partitions() == sorted(story.places)
    for name in ("dt=old", "dt=older"):
        assert story.files(name) == before[name]
    batch.refresh_from_db()
    assert (batch.state, batch.n_restored) == ("RESTORED", 2)
    assert Hold.objects.filter(db=story.db, kind="RESTORE").count() == 2
    with pytest.raises(StaleState):
        restore_preview_request(LAKE, wish, user=alice, now=timezone.now())
    it_goes_back_by_who_restored_it(story, preview, batch)


def it_goes_back_by_who_restored_it(story: Story, preview: Run, batch: BackupBatch) -> None:
    """As an application of the cluster; what else an undo does, test_restore_undo.py tries."""
    if story.config.spark_master == "local[*]":
        return
    wish = UndoParams("the wrong table", timezone.now())
    alice = story.people["alice"]
    undo = restore_undo_request(preview, wish, user=alice, now=timezone.now())
    undo = run_drive(undo.pk)
    assert undo.state == "DONE", undo.error
    assert undo.result is not None
    assert (undo.result["counts"], undo.result["skipped"]) == ({"UNDONE": 2}, [])
    assert story.partitions() == ["dt=written", "dt=young"]
    batch.refresh_from_db()
    assert (batch.state, batch.n_restored) == ("DROPPED", 0)
    assert not Hold.objects.filter(db=story.db, released_at=None).exists()
    assert AuditEvent.objects.filter(action="item.restore_undone").count() == 2


def the_run_tells_its_window_and_each_refusal(plan: DropPlan, refused: str) -> None:
    """How long data was out of sight is measured; what was refused is in the record, with why."""
    run = Run.objects.get(kind="lifecycle.drop", subject_id=str(plan.pk))
    assert run.result is not None
    assert run.result[WINDOW] == plan.outcome["window"]
    assert 0 < plan.outcome["window"] < plan.outcome["window_limit"] == 5
    event = AuditEvent.objects.get(action="item.refused", data__plan=str(plan.pk))
    assert event.object_id == refused
    assert event.data["reason"] == plan.results.get().reason
