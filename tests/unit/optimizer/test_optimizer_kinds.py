"""A kind of work has its decider and its executor, in each format in one place."""

from optimizer.core.domain.tasks import REWRITES, TaskKind
from optimizer.hudi.maintenance.domain.tasks import TASKS
from optimizer.hudi.maintenance.jobs.run_services import ACTS
from optimizer.iceberg.execution.jobs.optimize import EXECUTORS
from optimizer.iceberg.planner.domain.maintenance import UPKEEP


def test_every_kind_of_work_on_iceberg_tables_has_a_decider_and_an_executor() -> None:
    decided = [one.kind for one in UPKEEP]
    assert sorted([*REWRITES, *decided]) == sorted(TaskKind)
    assert set(EXECUTORS) == set(TaskKind)


def test_every_step_of_a_service_of_hudi_tables_has_an_executor() -> None:
    assert set(ACTS) == set(TASKS.values())
