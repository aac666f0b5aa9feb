"""An Iceberg table is compacted while the active NameNode dies or freezes.

At the first look or at the last one before the commit; its rows stay, and it can be compacted then.
"""

import uuid

import pytest
from pyspark.sql import SparkSession

from optimizer.iceberg.execution.jobs import optimize
from stack.ha_stack import HaStack
from stack.servers.ha_hdfs import HaHdfs
from tests.support.iceberg_lake import IcebergLake, WrittenTable, small_files


@pytest.fixture
def iceberg(available: HaStack, session: SparkSession) -> IcebergLake:
    """A fresh database of Iceberg tables on the name service."""
    db = f"ice_{uuid.uuid4().hex[:8]}"
    return IcebergLake.make(session, available.config(), db=db, root=f"hdfs://lake/tmp/{db}")


@pytest.mark.parametrize(("how", "from_end"), [("dies", True), ("dies", False), ("freezes", True)])
def test_a_compaction_loses_no_row(
    iceberg: IcebergLake, ha: HaHdfs, how: str, from_end: bool
) -> None:
    n_looks = _looks(small_files(iceberg.table(), 3)) if from_end else 1
    table = small_files(iceberg.table(), 3)
    rows, n_files = table.rows(), len(table.files())
    job = iceberg.interrupted(iceberg.task(table))
    job.happen(n_looks, lambda: ha.fail_over(how))
    results = optimize.run(iceberg.spark, job)["results"]
    ha.recover()
    assert table.rows() == rows
    if not results or results[0]["code"]:
        (again,) = iceberg.optimize(iceberg.task(table, 2))
        assert (again["outcome"], again["code"]) == ("DONE", ""), again
    assert table.rows() == rows
    assert len(table.files()) < n_files
    assert table.snapshots()[-1]["operation"] == "replace"


def _looks(table: WrittenTable) -> int:
    """Return how often a compaction of such a table asks whether it may go on."""
    job = table.lake.interrupted(table.lake.task(table))
    optimize.run(table.lake.spark, job)
    return job.asked
