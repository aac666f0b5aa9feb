"""Heard, looked at, decided, rewritten: a table falls ill by its writer and is well again."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from optimizer.core.domain.tasks import DESTRUCTIVE, TaskKind, TaskState
from optimizer.core.services.dispatcher import choose
from optimizer.iceberg.inspect.run_kinds import look_ask
from optimizer.iceberg.planner.run_kinds import KIND, REMOVE_KIND, OptimizeKind, RemoveKind
from optimizer.iceberg.planner.services.actions import optimize_now, removal_ask
from optimizer.iceberg.planner.services.maintainer import ICEBERG
from optimizer.models import IcebergTable, OptimizeTask, PolicyVersion, RemovalPlan
from optimizer.removals.services.removals import removal_decide
from portal.access.services import person_create
from portal.approvals.domain import DecisionInput
from portal.runs.models import Run
from portal.runs.requests.services import run_request
from stack.stack import LAKE, Stack
from tests.support.iceberg_lake import IcebergLake, small_files
from tests.support.refreshed import follow
from tests.support.removals import planted
from tests.support.run_here import run_here

pytestmark = [pytest.mark.django_db]

KINDS = sorted(set(TaskKind) - DESTRUCTIVE - {TaskKind.FULL})
VALUES = {"is_on": True, "kinds": KINDS}


@pytest.fixture
def lake(iceberg_lake: IcebergLake, embedded_stack: Stack, settings: Any) -> IcebergLake:
    settings.LAKEWARDEN_LAKES = embedded_stack.lakes_file
    PolicyVersion.objects.create(
        lake=LAKE, scope="*", version=1, values=VALUES, by="a", at=timezone.now(), reason="t"
    )
    follow()
    return iceberg_lake


def look(lake: IcebergLake, row: IcebergTable) -> None:
    """Look at what is due, as the minute's run does."""
    IcebergTable.objects.exclude(pk=row.pk).update(inspect_due_at=None)
    run = look_ask(LAKE, by="schedule", now=timezone.now() + timedelta(seconds=1))
    assert run is not None
    assert run_here(run, lake.spark).state == "DONE"
    row.refresh_from_db()
    assert (row.inspection_error, row.inspect_due_at) == ("", None)


def optimize(lake: IcebergLake) -> None:
    """Do what waits, as the dispatcher would have it done."""
    OptimizeKind().decide(LAKE, now=timezone.now())
    assert choose(ICEBERG, LAKE, now=timezone.now())
    run: Run = run_request(KIND, lake=LAKE, params={}, requested_by="schedule", now=timezone.now())
    run = run_here(run, lake.spark)
    assert run.state == "DONE", run.error


def test_small_files_are_heard_of_seen_and_packed_by_themselves(lake: IcebergLake) -> None:
    table = small_files(lake.table(), 13)
    rows = table.rows()
    follow()
    row = IcebergTable.objects.get(table=table.name, is_deleted=False)
    assert row.n_files == 26
    look(lake, row)
    ill = row.health
    task = OptimizeTask.objects.get(table=row, kind=TaskKind.MINOR)
    assert task.state == TaskState.WAITING
    assert task.reason
    counting = OptimizeTask.objects.get(table=row, kind=TaskKind.STATISTICS)

    optimize(lake)

    task.refresh_from_db()
    assert (task.state, task.before["n_files"], task.after["n_files"]) == (TaskState.DONE, 26, 2)
    assert (table.rows(), len(table.files())) == (rows, 2)
    follow()
    row.refresh_from_db()
    assert row.commits.filter(is_ours=True).count() == len(task.commits) == 2
    n_commits = row.commits.count()
    look(lake, row)
    assert ill is not None
    assert row.health is not None
    assert row.health > ill
    assert list(OptimizeTask.objects.filter(table=row, is_open=True)) == [counting], row.decision

    optimize(lake)

    counting.refresh_from_db()
    assert (counting.state, counting.after["n_statistics_columns"]) == (TaskState.DONE, 3)
    follow()
    row.refresh_from_db()
    assert row.commits.count() == n_commits, "no snapshot came of it"
    look(lake, row)
    assert not OptimizeTask.objects.filter(table=row, is_open=True).exists(), row.decision


def test_an_orphan_file_goes_once_two_people_have_approved_exactly_the_list(
    lake: IcebergLake, settings: Any
) -> None:
    settings.LAKEWARDEN_COOLING_OFF_SECONDS = 0
    OptimizeTask.objects.all().delete()
    table = small_files(lake.table(), 2)
    orphan, young = planted(table, "data/old.parquet", days=9), planted(table, "data/x", days=1)
    follow()
    row = IcebergTable.objects.get(table=table.name, is_deleted=False)
    # Else the run reads all that earlier tests left there, of which nobody knows what they borrow.
    IcebergTable.objects.exclude(pk=row.pk).delete()
    OptimizeTask.objects.filter(table=row).delete()
    task = removal_ask(row, "ORPHANS", user=None, reason="the disk is full", now=timezone.now())

    optimize(lake)

    plan = RemovalPlan.objects.get(table=row)
    task.refresh_from_db()
    assert (task.state, plan.state, plan.n_items) == ("TO_APPROVE", "PENDING", 1)
    assert (plan.facts["sample"], plan.requesters) == ([f"file://{orphan}"], ["shell", "a"])
    assert orphan.exists()
    for name in ("ada", "ben"):
        user = person_create(
            name, password="correct horse staple", email=f"{name}@example.org", roles=("admin",)
        )
        answer, now = DecisionInput("APPROVE", "", plan.digest), timezone.now()
        plan = removal_decide(plan.pk, user=user, answer=answer, authenticated_at=now, now=now)
    assert plan.state == "APPROVED"
    now = timezone.now() + timedelta(seconds=1)
    assert RemoveKind().scheduled_params(LAKE, now=now) == {}
    run = run_request(REMOVE_KIND, lake=LAKE, params={}, requested_by="schedule", now=now)
    assert run_here(run, lake.spark).state == "DONE"
    plan.refresh_from_db()
    task.refresh_from_db()
    assert (plan.state, task.state, plan.removed["n_files"]) == ("DONE", TaskState.DONE, 1)
    assert (orphan.exists(), young.exists()) == (False, True)
    assert "1 orphan file moved into quarantine" in plan.outcome
    assert len(table.rows()) == 12
    row.refresh_from_db()
    assert row.inspect_due_at is not None


@pytest.mark.long
def test_manifests_asked_for_are_few_at_the_next_look(lake: IcebergLake) -> None:
    table = small_files(lake.table(by=""), 22)
    follow()
    row = IcebergTable.objects.get(table=table.name, is_deleted=False)
    look(lake, row)
    OptimizeTask.objects.filter(table=row).delete()
    ill = row.health
    task = optimize_now(row, TaskKind.MANIFESTS, user=None, reason="too many", now=timezone.now())

    optimize(lake)

    task.refresh_from_db()
    assert (task.state, task.outcome) == (TaskState.DONE, "22 manifests became 1.")
    assert (task.before["n_manifests"], task.after["n_manifests"]) == (22, 1)
    follow()
    row.refresh_from_db()
    assert row.commits.filter(is_ours=True).count() == 1
    look(lake, row)
    assert row.n_manifests == 1
    assert ill is not None
    assert row.health is not None
    assert row.health > ill
