"""What people may ask of the optimizer, who may, and what is kept of it."""

import pytest
from django.core.management import CommandError, call_command

from optimizer.core.domain.tasks import TaskKind, TaskState
from optimizer.core.services.actions import table_pause, table_resume, task_cancel
from optimizer.iceberg.planner.services.actions import dry_run, optimize_now
from optimizer.models import IcebergTable, OptimizeTask
from portal.audit.models import AuditEvent
from portal.lake.errors import NotVisible, RuleViolation, StaleState
from tests.component.conftest import People
from tests.component.optimizer.iceberg.iceberg_said import NOW, at
from tests.component.optimizer.iceberg.planner.test_optimizer_queue import (
    commit,
    looked,
    policy,
    run_of,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]


@pytest.fixture
def row() -> IcebergTable:
    """A table of olga's that has one file."""
    policy()
    commit(1)
    return IcebergTable.objects.get()


def test_a_task_asked_for_waits_with_its_reason(row: IcebergTable, people: People) -> None:
    for _ in range(2):
        task = optimize_now(row, TaskKind.FULL, user=people.owner, reason="slow", now=NOW)
    assert OptimizeTask.objects.get() == task
    assert (task.state, task.requested_by) == (TaskState.WAITING, "olga")
    assert task.reason == "olga asked for it: slow"
    actions = set(AuditEvent.objects.values_list("action", "actor"))
    assert ("optimizer.asked", "olga") in actions
    run_of()
    with pytest.raises(StaleState, match="under way"):
        optimize_now(row, TaskKind.FULL, user=people.owner, reason="slow", now=NOW)
    task_cancel(task, user=people.owner, reason="no", now=NOW)
    assert (task.state, task.is_stopping, task.outcome) == ("SENT", True, "olga: no")
    with pytest.raises(StaleState, match="stop was requested already, by olga: no"):
        task_cancel(task, user=people.operator, reason="too", now=NOW)


def test_a_task_is_cancelled_once(row: IcebergTable, people: People) -> None:
    task = optimize_now(row, TaskKind.MINOR, user=people.owner, reason="slow", now=NOW)
    task_cancel(task, user=people.operator, reason="not today", now=at(1))
    assert (task.state, task.is_open, task.outcome) == ("CANCELLED", None, "otto: not today")
    with pytest.raises(StaleState, match="already cancelled"):
        task_cancel(task, user=people.operator, reason="again", now=at(1))


def test_a_paused_table_is_left_alone_until_it_goes_on(row: IcebergTable, people: People) -> None:
    table_pause(row, user=people.owner, reason="migration", now=NOW)
    assert (row.is_paused, row.paused_by, row.paused_reason) == (True, "olga", "migration")
    commit(40, now=at(1))
    assert not OptimizeTask.objects.exists()
    for asked in (
        lambda: table_pause(row, user=people.owner, reason="x", now=NOW),
        lambda: optimize_now(row, TaskKind.MINOR, user=people.owner, reason="x", now=NOW),
    ):
        with pytest.raises(StaleState):
            asked()
    table_resume(row, user=people.operator, reason="done", now=at(2))
    assert (row.is_paused, row.inspect_due_at) == (False, at(2))
    with pytest.raises(StaleState):
        table_resume(row, user=people.operator, reason="done", now=at(2))


def test_strangers_and_empty_reasons_are_refused(row: IcebergTable, people: People) -> None:
    with pytest.raises(NotVisible):
        optimize_now(row, TaskKind.MINOR, user=people.stranger, reason="x", now=NOW)
    with pytest.raises(NotVisible):
        table_pause(row, user=people.stranger, reason="x", now=NOW)
    with pytest.raises(NotVisible):
        dry_run(row, user=people.stranger, now=NOW)
    with pytest.raises(RuleViolation):
        table_pause(row, user=people.owner, reason=" ", now=NOW)


def test_a_dry_run_begins_nothing(row: IcebergTable, people: People) -> None:
    with pytest.raises(StaleState, match="have not been inspected"):
        dry_run(row, user=people.owner, now=NOW)
    commit(40)
    OptimizeTask.objects.all().delete()
    plan = dry_run(looked(40, now=at(1)), user=people.owner, now=at(2))
    assert plan.tasks[0].kind in (TaskKind.MINOR, TaskKind.MAJOR)
    assert not OptimizeTask.objects.exists()


def test_the_command_says_and_does_the_same(
    row: IcebergTable, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("optimizer_table", "run", "shop.clicks", "--reason", "slow")
    call_command("optimizer_table", "pause", "shop.clicks", "--reason", "migration")
    call_command("optimizer_table", "status", "shop.clicks")
    said = capsys.readouterr().out
    assert "MINOR of shop.clicks" in said
    assert "shop.clicks (paused: migration): 1 files" in said
    assert "MINOR WAITING: shell asked for it: slow" in said
    call_command("optimizer_table", "resume", "shop.clicks", "--reason", "done")
    commit(40)
    looked(40, now=at(1))
    call_command("optimizer_table", "plan", "shop.clicks")
    assert "Reads 40 files" in capsys.readouterr().out
    with pytest.raises(CommandError, match="No Iceberg table"):
        call_command("optimizer_table", "status", "shop.nope")
    with pytest.raises(CommandError, match=r"optimizer\.reason"):
        call_command("optimizer_table", "pause", "shop.clicks")
