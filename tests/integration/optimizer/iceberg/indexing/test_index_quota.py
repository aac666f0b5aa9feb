"""A directory of HDFS whose quota is used up: told clearly, nothing published, resumed."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pyspark.sql import SparkSession

from optimizer.iceberg.access.jobs.errors import DISK_FULL
from optimizer.iceberg.indexing.jobs.store import IndexStore
from stack.stack import LAKE, Stack
from tests.support.iceberg_indexes import index, locations
from tests.support.iceberg_lake import IcebergLake, WrittenTable

pytestmark = pytest.mark.spark
UNCHANGED, NO_LIMIT = 2**63 - 1, -1
WANTED = ("id:bloom", "word:bitmap")


@contextmanager
def quota(table: WrittenTable, folder: str, *, names: int, space: int) -> Iterator[None]:
    """Limit a folder of the table's indexes, as the administrator of HDFS does."""
    context = table.lake.spark.sparkContext
    jvm: Any = context._jvm
    where = f"{table.opened.location}/_lakewarden/indexes/{folder}"
    path = jvm.org.apache.hadoop.fs.Path(where)
    system = path.getFileSystem(context._jsc.hadoopConfiguration())
    system.setQuota(path, names, space)
    try:
        yield
    finally:
        system.setQuota(path, NO_LIMIT, NO_LIMIT)


def covered(table: WrittenTable) -> set[str]:
    return set(IndexStore(table.opened).newest().covered)


@pytest.fixture(scope="module")
def lake(spark: SparkSession, full_stack: Stack) -> IcebergLake:
    root = f"{full_stack.lake_root}/index_quota"
    return IcebergLake.make(
        spark.newSession(), full_stack.config(LAKE), db="index_quota", root=root
    )


@pytest.mark.parametrize(
    ("folder", "limits"),
    [
        ("files", {"names": UNCHANGED, "space": 1 << 20}),
        ("manifests", {"names": 2, "space": UNCHANGED}),
    ],
)
def test_a_used_up_quota_publishes_nothing_and_the_next_run_goes_on(
    lake: IcebergLake, folder: str, limits: dict[str, int]
) -> None:
    table = lake.table(by="")
    table.append([(1, "2026-05-01", "first")])
    assert index(table, *WANTED)["outcome"] == "DONE"
    before = covered(table)
    table.append([(2, "2026-05-01", "second")])

    with quota(table, folder, **limits):
        result = index(table, *WANTED)
        assert (result["outcome"], result["code"]) == ("FAILED", DISK_FULL), result
        assert "Make room or raise the quota" in result["reason"]
        assert covered(table) == before == locations(table) & before
    assert index(table, *WANTED)["outcome"] == "DONE"
    assert covered(table) == locations(table)
