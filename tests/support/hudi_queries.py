"""Queries over Hudi tables that a driver of `query_teller` runs, and what they read."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from pipelines.commits.jobs.changes import Source
from pipelines.commits.jobs.hudi_source import HudiSource
from pipelines.commits.jobs.iceberg_source import IcebergSource
from tests.support.changed_tables import ChangedHudi
from tests.support.materialized_tables import PLAIN, Materialized

EXTENSIONS = ("org.apache.spark.sql.hudi.HoodieSparkSessionExtension",)
CATALOG = "org.apache.spark.sql.hudi.catalog.HoodieCatalog"
KEPT = "spark.lakewarden.materializations.tables"
CITY = "secret-of-a-city"
"""Stands in conditions everywhere; only texts may hold it."""
ROWS = [(n, f"d{n % 3}", CITY if n % 2 else "b", n, None) for n in range(40)]
OF_ICEBERG = "SELECT city, count(*) AS n, sum(qty) AS qty FROM shop.ev GROUP BY city"
BY_CITY = "SELECT city, sum(qty), count(*) FROM shop.rides WHERE dt = 'd1' GROUP BY city"
Act = Callable[[SparkSession], object]


def _sql(text: str) -> Act:
    return lambda spark: spark.sql(text).collect()


@contextmanager
def _known(spark: SparkSession, name: str) -> Iterator[None]:
    """Have the session answer from a materialization, for a while."""
    spark.conf.set(KEPT, name)
    try:
        yield
    finally:
        spark.conf.unset(KEPT)


def _kept(name: str, text: str) -> Act:
    def run(spark: SparkSession) -> None:
        with _known(spark, name):
            spark.sql(text).collect()

    return run


def _frame(spark: SparkSession) -> None:
    rides = spark.table("shop.rides").where((f.col("qty") > 3) & (f.col("city") == CITY))
    rides.groupBy("dt").agg(f.sum("qty")).collect()


def _view(spark: SparkSession) -> None:
    spark.sql("SELECT dt, qty FROM shop.rides WHERE qty > 2").createOrReplaceTempView("seen")
    spark.sql("SELECT dt, max(qty) FROM seen GROUP BY dt").collect()
    spark.catalog.dropTempView("seen")


def _location(spark: SparkSession) -> str:
    rows = spark.sql("DESCRIBE FORMATTED shop.rides").where("col_name = 'Location'").collect()
    return str(rows[0]["data_type"])


def _older(spark: SparkSession) -> None:
    first = ChangedHudi(spark, Path(_location(spark).removeprefix("file:"))).instants()[0]
    spark.sql(
        f"SELECT dt, sum(qty) FROM shop.rides TIMESTAMP AS OF '{first}' GROUP BY dt"
    ).collect()


def _path(spark: SparkSession) -> None:
    spark.read.format("hudi").load(_location(spark)).groupBy("dt").count().collect()


def _adaptive(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.adaptive.enabled", "true")
    try:
        spark.sql("SELECT dt, max(qty) FROM shop.rides WHERE qty > 1 GROUP BY dt").collect()
    finally:
        spark.conf.set("spark.sql.adaptive.enabled", "false")


def _failing(spark: SparkSession) -> None:
    try:
        spark.sql("SELECT assert_true(qty < 0) FROM shop.rides WHERE id = 3").collect()
    except Exception as error:
        if "is not true" not in str(error):
            raise
    else:
        raise AssertionError("it was to fail")


QUERIES: dict[str, Act] = {
    "groups": _sql(
        "SELECT dt, sum(qty), count(DISTINCT city), count(*) FROM shop.rides "
        f"WHERE city = '{CITY}' AND qty BETWEEN 1 AND 9 GROUP BY dt"
    ),
    "join": _sql(
        "SELECT s.city, sum(r.price), avg(r.qty) FROM shop.rides r JOIN shop.stops s "
        "ON r.id = s.id WHERE r.dt IN ('d0', 'd1') GROUP BY s.city"
    ),
    "itself": _sql(
        "SELECT count(*) FROM shop.rides a JOIN shop.rides b ON a.id = b.id "
        "WHERE a.qty > 3 AND b.city = 'b'"
    ),
    "logged": _sql("SELECT dt, max(price) FROM shop.logged WHERE qty = 3 GROUP BY dt"),
    "frame": _frame,
    "view": _view,
    "adaptive": _adaptive,
    "all rows": _sql("SELECT count(*) FROM shop.rides"),
    "rows": _sql("SELECT id FROM shop.rides WHERE qty = 5"),
    "older": _older,
    "both formats": _sql(
        "SELECT e.city, sum(r.qty) FROM shop.rides r JOIN lake.shop.ev e ON r.id = e.id "
        "GROUP BY e.city"
    ),
    "crossed": _sql("SELECT dt, sum(qty) FROM shop.rides CROSS JOIN maker.shop.dim GROUP BY dt"),
    "answered": _kept("shop.kept", BY_CITY),
    "answered beside": _kept(
        "shop.kept", f"{BY_CITY} UNION ALL SELECT city, qty, 1 FROM shop.logged WHERE id = 7"
    ),
    "answered of iceberg": _kept(
        "shop.kept_of_ev", "SELECT city, sum(qty) FROM lake.shop.ev GROUP BY city"
    ),
    "not answered": _kept(
        "shop.kept", "SELECT price, count(*) FROM shop.rides WHERE dt = 'd1' GROUP BY price"
    ),
    "kept itself": _sql("SELECT city, qty FROM shop.kept WHERE dt = 'd1'"),
    "insert": _sql("INSERT INTO lake.shop.copy SELECT id, city FROM shop.rides WHERE id = 5"),
    "failing": _failing,
    "write": _sql("INSERT INTO shop.mine SELECT id, city FROM shop.rides"),
    # None of these is told of.
    "path": _path,
    "changes": _sql(
        "SELECT dt, count(*) FROM hudi_table_changes('shop.rides', 'latest_state', 'earliest') "
        "GROUP BY dt"
    ),
    "command": _sql("SHOW TABLES IN shop"),
    "last": _sql("SELECT id FROM shop.rides WHERE qty = 4"),
}


def make_tables(spark: SparkSession, place: Path) -> None:
    """Make Hudi tables of both kinds, materializations of one and of an Iceberg table."""
    spark.conf.set("spark.sql.catalog.spark_catalog", CATALOG)
    spark.sql(f"CREATE DATABASE shop LOCATION 'file:{place}/shop'")
    rides = ChangedHudi(spark, place / "rides")
    rides.write(ROWS)
    rides.write([(1, "d1", "b", 3, None)])
    logged = ChangedHudi(spark, place / "logged", kind="MERGE_ON_READ")
    logged.write(ROWS)
    logged.write(ROWS[:9])
    stops = ChangedHudi(spark, place / "stops")
    stops.write([(n, "d0", CITY, None, None) for n in range(40)])
    of_rides = HudiSource.open(spark, "db.rows", rides.location)
    tables = {"rides": rides, "logged": logged, "stops": stops}
    made = {name: table.location for name, table in tables.items()}
    for name, sources, sql in (
        ("kept", {"db.rows": of_rides}, PLAIN),
        ("kept_of_ev", {"shop.ev": _iceberg(spark)}, OF_ICEBERG),
    ):
        kept = Materialized(spark, place / name, sources, sql)
        kept.refresh()
        made[name] = kept.target.location
    for name, location in made.items():
        spark.sql(f"CREATE TABLE shop.{name} USING hudi LOCATION '{location}'")
    spark.sql(
        "CREATE TABLE shop.mine (id BIGINT, city STRING) USING hudi TBLPROPERTIES "
        "(primaryKey = 'id')"
    )


def _iceberg(spark: SparkSession) -> Source:
    context: Any = spark.sparkContext
    session: Any = spark._jsparkSession
    catalog = session.sessionState().catalogManager().catalog("maker").icebergCatalog()
    identifier = context._jvm.org.apache.iceberg.catalog.TableIdentifier.parse("shop.ev")
    return IcebergSource(spark, "shop.ev", "maker.shop.ev", catalog.loadTable(identifier))
