"""The queue treats tables of every format alike: what is taken in once is taken in once."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from optimizer.core.domain.tasks import TaskKind, TaskState
from optimizer.core.models import TABLE_FIELDS, MaintainedTable, table_models
from optimizer.core.selectors.tasks import listed_kinds, task_kinds
from optimizer.core.services.maintainers import all_maintainers, maintainer_of
from optimizer.core.services.results import reclaim, result_take, results_ingest
from optimizer.core.services.task_lifecycle import MOST_TRIES, lock_to_decide
from optimizer.hudi.maintenance.domain.tasks import Service, Step, task_name
from optimizer.iceberg.planner.services.planner import decide_table
from optimizer.models import OptimizeTask
from optimizer.policies.selectors.policies import policies_of
from portal.runs.models import Run
from portal.ui.frame.states import badge_for
from tests.component.optimizer.hudi.hudi_task_rows import hudi
from tests.component.optimizer.iceberg.planner.test_optimizer_queue import policy, run_of
from tests.component.optimizer.optimizer_rows import NOW, iceberg, partition

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]

LATER = NOW + timedelta(minutes=5)
TABLES: dict[str, tuple[Callable[[], MaintainedTable], str]] = {
    "iceberg": (iceberg, TaskKind.MINOR.value),
    "hudi": (hudi, task_name(Service.COMPACTION, Step.EXECUTE)),
}
formats = pytest.mark.parametrize("table_format", TABLE_FIELDS)


def sent(table_format: str) -> tuple[OptimizeTask, Run]:
    """A task that a run has."""
    make, kind = TABLES[table_format]
    run = run_of()
    fields: dict[str, Any] = {TABLE_FIELDS[table_format]: make()}
    task = OptimizeTask.objects.create(
        kind=kind,
        reason="x",
        created_at=NOW,
        state=TaskState.SENT,
        started_at=NOW,
        run=run.pk,
        **fields,
    )
    return task, run


@formats
def test_what_one_worker_took_in_another_does_not_take_in_again(table_format: str) -> None:
    maintainer = maintainer_of(table_format)
    task, run = sent(table_format)
    read_before = OptimizeTask.objects.get()
    done = {"task": task.pk, "outcome": "DONE", "reason": "Done."}
    said = {"outcome": "done", "result": {"results": [done], "tasks": [done]}}
    results_ingest(maintainer, run, said, now=NOW)
    # Another worker, which read the task before, finds the run ended and takes its tasks back.
    result_take(maintainer, read_before, None, {}, by_will=False, now=LATER)
    task.refresh_from_db()
    assert (task.state, task.outcome, task.ended_at) == (TaskState.DONE, "Done.", NOW)
    assert (task.n_tries, task.is_open) == (1, None)


@formats
def test_a_task_that_is_given_up_still_names_its_last_run(table_format: str) -> None:
    task, run = sent(table_format)
    OptimizeTask.objects.update(n_tries=MOST_TRIES - 1)
    Run.objects.update(finished_at=NOW)
    assert reclaim(maintainer_of(table_format), "main", now=LATER) == 1
    task.refresh_from_db()
    assert (task.state, task.run, task.started_at) == (TaskState.FAILED, run.pk, NOW)
    assert "Given up after 3 runs" in task.outcome


@formats
def test_of_two_that_decide_on_a_table_at_once_one_writes(table_format: str) -> None:
    row = TABLES[table_format][0]()
    read_before = type(row)._default_manager.get()
    assert lock_to_decide(row)
    type(row)._default_manager.update(decided_at=LATER)
    assert not lock_to_decide(read_before)


def test_a_second_decision_on_an_iceberg_table_changes_nothing() -> None:
    policy()
    row = iceberg(decided_at=None)
    partition(row, "dt=1")
    read_before = type(row).objects.get()
    decide_table(row, policies=policies_of("main"), speed=None, now=NOW)
    (task,) = OptimizeTask.objects.all()
    OptimizeTask.objects.update(state=TaskState.CANCELLED, is_open=None, ended_at=NOW)
    decide_table(read_before, policies=policies_of("main"), speed=None, now=LATER)
    assert [one.pk for one in OptimizeTask.objects.all()] == [task.pk]


def test_every_format_has_its_maintainer_and_kinds_of_its_own_with_words() -> None:
    assert [one.table_format for one in all_maintainers()] == list(TABLE_FIELDS)
    assert [one.table_format for one in table_models()] == list(TABLE_FIELDS)
    kinds = task_kinds()
    assert len(kinds) == len(set(kinds))
    assert set(listed_kinds()) <= set(kinds)
    assert all(badge_for(f"WORK_{kind}").icon != badge_for("NOBODY").icon for kind in kinds)
