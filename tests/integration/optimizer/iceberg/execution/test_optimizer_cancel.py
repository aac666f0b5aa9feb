"""Tests a cancelled task: the job leaves it and continues with the others."""

import pytest

from optimizer.core.domain.tasks import LEAVE_OUT, STOPPED
from optimizer.iceberg.execution.jobs import optimize
from tests.support.iceberg_lake import IcebergLake, small_files


@pytest.mark.parametrize("asked", [1, 3])
def test_one_task_is_left_and_the_next_is_done(iceberg_lake: IcebergLake, asked: int) -> None:
    """Before it began (1), and with two of its partitions written and not committed (3)."""
    stops, goes_on = (small_files(iceberg_lake.table(), 2) for _ in range(2))
    rows, last = stops.rows(), stops.opened.snapshot_id
    job = iceberg_lake.interrupted(iceberg_lake.task(stops), iceberg_lake.task(goes_on, 2))
    job.happen(asked, lambda: job.spool.write_control({LEAVE_OUT: [1]}))
    found = optimize.run(iceberg_lake.spark, job)
    assert [(one["task"], one["outcome"]) for one in found["results"]] == [(2, "DONE")]
    assert found["stopped"] == ""
    assert (stops.rows(), stops.opened.snapshot_id) == (rows, last)
    assert stops.unknown_files() == set()
    assert goes_on.unknown_files() == set()


def test_what_is_committed_stays_and_is_told(iceberg_lake: IcebergLake) -> None:
    table = small_files(iceberg_lake.table(), 2)
    rows = table.rows()
    job = iceberg_lake.interrupted(iceberg_lake.task(table, max_commits=2))
    # Asked before the task, for the first group, before its commit, and for the second group.
    job.happen(4, lambda: job.spool.write_control({LEAVE_OUT: [1]}))
    (result,) = optimize.run(iceberg_lake.spark, job)["results"]
    assert (result["outcome"], result["code"]) == ("PARTIAL", STOPPED), result
    assert len(result["commits"]) == 1
    assert table.rows() == rows
    assert table.unknown_files() == set()
