"""The program refreshes tables of a metastore, and whoever kills it changes nothing twice."""

import json
from pathlib import Path

import msgspec
import pytest

from pipelines.materialized.domain.messages import RESULTS, Order, Refreshed, Request
from pipelines.materialized.jobs import materialize
from portal.connectors.metastore import Metastore
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from portal.spark.job import JobContext
from tests.integration.pipelines.cdc.applying.test_apply_killed import is_over, kept_until
from tests.support.hudi_services import submitted
from tests.support.iceberg_lake import IcebergLake, WrittenTable
from tests.support.materialized_tables import BY_CHANGES
from tests.support.scan_spark import job_for

pytestmark = pytest.mark.spark


def order_of(table: WrittenTable, place: Path, *, sql: str = "", number: int = 1) -> Order:
    wanted = f"SELECT dt, count(*) AS n, max(id) AS high FROM {table.lake.db}.{table.name}"
    name = f"kept_of_{table.name}"
    return Order(
        number, sql or f"{wanted} GROUP BY dt", table.lake.db, name, f"file:{place}/{name}", "me",
        past=BY_CHANGES,
    )  # fmt: skip


def job_of(lake: IcebergLake, *orders: Order) -> JobContext:
    params = {materialize.REQUEST: json.loads(msgspec.json.encode(Request(orders)))}
    return job_for(lake.spark, lake.config, params)


def refreshed(lake: IcebergLake, *orders: Order) -> list[Refreshed]:
    job = job_of(lake, *orders)
    materialize.run(lake.spark, job)
    places = [job.spool.results.child(RESULTS, f"{one.id}.json") for one in orders]
    return [msgspec.json.decode(job.spool.fs.read(one), type=Refreshed) for one in places]


def rows(lake: IcebergLake, order: Order) -> list[tuple[object, ...]]:
    read = lake.spark.read.format("hudi").load(order.location)
    return sorted(map(tuple, read.select("dt", "n", "high").collect()))


def test_tables_of_a_metastore_are_refreshed_and_registered(
    iceberg_lake: IcebergLake, tmp_path: Path
) -> None:
    table = iceberg_lake.table()
    table.append([(1, "a", None), (2, "a", None), (3, "b", None)])
    good = order_of(table, tmp_path)
    bad = order_of(table, tmp_path / "bad", sql="SELECT dt FROM a.b GROUP BY dt", number=2)
    first, refused = refreshed(iceberg_lake, good, bad)
    assert (first.state, first.way, first.n_groups) == ("done", "full", 2)
    assert (refused.state, refused.code) == ("failed", "materialized.definition")
    assert rows(iceberg_lake, good) == [("a", 2, 2), ("b", 1, 3)]
    with Metastore.connect(iceberg_lake.config) as metastore:
        made = metastore.table(TableName(LakeId("main"), good.db, good.table))
    assert str(made.sd.location).rstrip("/").endswith(good.table)
    assert {"dt", "n", "high"} <= {one.name for one in made.sd.cols}

    table.say("DELETE FROM {t} WHERE id = 3")
    table.append([(9, "c", None)])
    (second,) = refreshed(iceberg_lake, good)
    assert (second.way, second.n_changed_groups, second.n_commits) == ("incremental", 2, 2)
    assert second.positions[f"{table.lake.db}.{table.name}"].commit == str(table.opened.snapshot_id)
    assert rows(iceberg_lake, good) == [("a", 2, 2), ("c", 1, 9)]
    (third,) = refreshed(iceberg_lake, good)
    assert third.way == "nothing"


def test_counts_of_distinct_values_are_a_table_that_is_seen_and_dropped_as_any(
    iceberg_lake: IcebergLake, tmp_path: Path
) -> None:
    table = iceberg_lake.table()
    table.append([(1, "a", None), (2, "a", None), (3, "b", None)])
    source = f"{table.lake.db}.{table.name}"
    sql = f"SELECT dt, count(DISTINCT id) AS k FROM {source} GROUP BY dt"
    order = order_of(table, tmp_path, sql=sql)
    (done,) = refreshed(iceberg_lake, order)
    assert done.state == "done", done.reason
    counts = TableName(LakeId("main"), order.db, f"{order.table}_distinct")
    with Metastore.connect(iceberg_lake.config) as metastore:
        made = metastore.table(counts)
    assert str(made.sd.location).rstrip("/") == f"{order.location}__distinct"
    table.append([(4, "a", None)])
    (again,) = refreshed(iceberg_lake, order)
    assert (again.state, again.way) == ("done", "incremental"), again.reason
    read = iceberg_lake.spark.read.format("hudi").load(order.location)
    assert sorted(map(tuple, read.select("dt", "k").collect())) == [("a", 3), ("b", 1)]


@pytest.mark.parametrize(
    "failpoint",
    [
        "target:after",
        pytest.param("target:before", marks=pytest.mark.long),
    ],
)
def test_a_driver_that_is_killed_counts_nothing_twice(
    iceberg_lake: IcebergLake, tmp_path: Path, failpoint: str
) -> None:
    table = iceberg_lake.table()
    table.append([(1, "a", None), (2, "a", None)])
    order = order_of(table, tmp_path)
    refreshed(iceberg_lake, order)
    table.append([(5, "a", None), (6, "b", None)])
    log = tmp_path / "log"
    job = job_of(iceberg_lake, order)
    launched = submitted(
        job,
        "pipelines.materialized.jobs.materialize",
        config=iceberg_lake.config,
        log_file=log,
        environment={"LW_FAILPOINT": f"{failpoint}:kill", "LW_FAILPOINTS_ENABLED": "1"},
    )
    kept_until(lambda: is_over(launched.pid), log)
    assert job.spool.read_manifest() is None, job.spool.read_manifest()
    (done,) = refreshed(iceberg_lake, order)
    assert done.way == ("nothing" if failpoint == "target:after" else "incremental")
    assert rows(iceberg_lake, order) == [("a", 3, 5), ("b", 1, 6)]
