"""What a task of a Hudi table reads, and how long it takes by what was measured."""

from dataclasses import replace

import pytest

from optimizer.hudi.maintenance.domain.tasks import Service
from optimizer.hudi.planner.domain.estimates import (
    TIMED,
    DoneTask,
    estimate_read,
    measured_speed,
    plans_read,
)
from tests.unit.optimizer.hudi.hudi_world import asked, look, name, plan

TWO = look(
    asked(10),
    asked(20),
    plans=(replace(plan(10, "a"), base_bytes=100), replace(plan(20, "b"), base_bytes=300)),
)


def done(n_bytes: int, seconds: float, *, planned: str = "a", did: str = "a") -> DoneTask:
    return DoneTask(frozenset(planned), frozenset(did), n_bytes, seconds)


def test_a_task_reads_the_bases_and_logs_of_its_plans() -> None:
    assert plans_read(TWO, Service.COMPACTION, [name(10)]) == 110
    assert plans_read(TWO, Service.COMPACTION, []) == 420
    # Of a plan that could not be read, or is not there, nothing is known.
    assert plans_read(TWO, Service.COMPACTION, [name(10), name(99)]) is None
    assert plans_read(TWO, Service.CLUSTERING, []) is None
    assert TIMED == ("HUDI_CLUSTERING_EXECUTE", "HUDI_COMPACTION_EXECUTE")


@pytest.mark.parametrize(
    ("tasks", "speed"),
    [
        ([], None),
        ([done(1000, 0.5)], None),
        ([done(1000, 2.0), done(3000, 2.0)], 1000.0),
        # One that did less than it was to do says nothing of what it read.
        ([done(1000, 2.0), done(9000, 2.0, planned="ab")], 500.0),
        ([done(0, 2.0), done(9000, 2.0, planned="", did="")], None),
    ],
)
def test_a_speed_comes_from_tasks_that_did_all_that_they_were_to_do(
    tasks: list[DoneTask], speed: float | None
) -> None:
    assert measured_speed(tasks) == speed


def test_without_a_speed_no_seconds_are_told_and_without_bytes_nothing() -> None:
    timed = estimate_read(7200, speed=2.0, memory_gb=1.0)
    assert timed is not None
    assert (timed.bytes_read, timed.seconds, timed.gb_hours) == (7200, 3600.0, 1.0)
    untimed = estimate_read(7200, speed=None, memory_gb=1.0)
    assert untimed is not None
    assert (untimed.bytes_read, untimed.seconds, untimed.gb_hours) == (7200, 0.0, 0.0)
    assert estimate_read(None, speed=2.0, memory_gb=1.0) is None
