"""A Spark driver of its own that tells of its queries, configured as people configure one.

    python -m tests.support.query_teller FOLDER (queries | hudi | many)

`queries` runs each of `QUERIES` and prints its name when it has ended, and `hudi` those of
`hudi_queries`; `many` runs 2,000 queries and prints the seconds of each. The setting is in the
environment; see `told`.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from tests.support.report_portal import ReportPortal

REPO = Path(__file__).resolve().parents[2]
MANY = 2_000
LISTENER = "lakewarden.reports.QueryListener"
SECRET = "secret-of-a-customer"
"""Stands in conditions everywhere; only texts may hold it."""
CLASSES = {
    "maker": "org.apache.iceberg.spark.SparkCatalog",
    "lake": "org.apache.iceberg.spark.SparkCatalog",
    "indexed": "lakewarden.indexes.IndexedSparkCatalog",
}
Act = Callable[[SparkSession], object]


def sql(text: str) -> Act:
    """Return what runs a text and fetches its rows."""
    return lambda spark: spark.sql(text).collect()


def _frame(spark: SparkSession) -> object:
    events = spark.table("lake.shop.ev").filter((f.col("uid") == 7) | (f.col("uid") == 9))
    kept = events.filter(f.col("city") != SECRET).groupBy("city")
    return kept.agg(f.sum("qty"), f.countDistinct("uid")).collect()


def _twice(spark: SparkSession) -> None:
    point = spark.sql("SELECT id FROM lake.shop.ev WHERE uid = 3")
    point.collect()
    point.collect()


def _shown(spark: SparkSession) -> None:
    spark.sql(f"SELECT id FROM lake.shop.ev WHERE note = '{SECRET}'").show()


def _adaptive(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.adaptive.enabled", "true")
    try:
        sql("SELECT city, max(price) FROM lake.shop.ev WHERE qty > 1 GROUP BY city")(spark)
    finally:
        spark.conf.set("spark.sql.adaptive.enabled", "false")


def _with(setting: str, value: str, act: Act) -> Act:
    def run(spark: SparkSession) -> None:
        spark.conf.set(setting, value)
        try:
            act(spark)
            # The listener reads the setting when the query's end reaches it, a moment later.
            spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
        finally:
            spark.conf.unset(setting)

    return run


def _view(text: str, query: str) -> Act:
    def run(spark: SparkSession) -> None:
        spark.sql(text).createOrReplaceTempView("seen")
        try:
            sql(query)(spark)
        finally:
            spark.catalog.dropTempView("seen")

    return run


def _file(spark: SparkSession) -> None:
    with TemporaryDirectory() as folder:
        spark.range(3).selectExpr("id uid").write.parquet(f"file:{folder}/rows")
        spark.read.parquet(f"file:{folder}/rows").createOrReplaceTempView("seen")
        sql("SELECT count(*) FROM lake.shop.ev WHERE uid IN (SELECT uid FROM seen)")(spark)
        spark.catalog.dropTempView("seen")


def _failing(spark: SparkSession) -> None:
    try:
        sql("SELECT assert_true(uid < 0) FROM lake.shop.ev WHERE uid = 40")(spark)
    except Exception as error:
        if "is not true" not in str(error):
            raise
    else:
        raise AssertionError("it was to fail")


QUERIES: dict[str, Act] = {
    "point": sql("SELECT count(*) FROM lake.shop.ev WHERE uid = 40"),
    "texts": sql(
        "SELECT id FROM lake.shop.ev WHERE day = DATE '2026-11-02' AND city LIKE 'Kie%' "
        f"AND note LIKE '%{SECRET}%' AND props.a = '{SECRET}'"
    ),
    "groups": sql(
        "SELECT city, sum(price * qty), count(DISTINCT uid), count(*) FROM lake.shop.ev "
        f"WHERE id IN (1, 2, 3) AND note <> '{SECRET}' GROUP BY city HAVING count(*) > 0"
    ),
    "join": sql(
        "SELECT d.name, sum(e.price) FROM lake.shop.ev e JOIN lake.shop.dim d ON e.uid = d.uid "
        f"WHERE d.name LIKE '{SECRET}%' AND e.qty BETWEEN 1 AND 4 GROUP BY d.name"
    ),
    "subquery": sql(
        "WITH big AS (SELECT uid FROM lake.shop.ev WHERE price > 10) "
        "SELECT max(id) FROM lake.shop.ev WHERE city IS NULL OR uid IN (SELECT uid FROM big)"
    ),
    "rollup": sql("SELECT city, day, sum(qty) FROM lake.shop.ev GROUP BY ROLLUP (city, day)"),
    "above": sql(
        "SELECT c, count(*) FROM (SELECT upper(city) c, uid FROM lake.shop.ev WHERE uid > 5) "
        "WHERE uid < 30 GROUP BY c"
    ),
    "frame": _frame,
    "shown": _shown,
    "twice": _twice,
    "adaptive": _adaptive,
    "union": sql(
        "SELECT sum(n) FROM (SELECT count(*) n FROM lake.shop.ev WHERE uid = 1 "
        "UNION ALL SELECT count(*) n FROM lake.shop.dim WHERE uid = 1)"
    ),
    "insert": sql("INSERT INTO lake.shop.copy SELECT * FROM lake.shop.dim WHERE uid = 5"),
    "ctas": sql("CREATE TABLE lake.shop.made USING iceberg AS SELECT * FROM lake.shop.dim"),
    "delete": sql("DELETE FROM lake.shop.copy WHERE uid = 5 AND name LIKE '%5'"),
    "indexed": sql("SELECT id FROM indexed.shop.ev WHERE uid = 8"),
    "failing": _failing,
    "untold text": _with(
        "spark.lakewarden.queries.text",
        "false",
        sql(f"SELECT id FROM lake.shop.ev WHERE note = '{SECRET}'"),
    ),
    "dates": sql(
        "SELECT date_trunc('MM', at) m, year(at), to_date(at), trunc(day, 'YEAR'), sum(qty) "
        "FROM lake.shop.ev WHERE uid > 5 GROUP BY 1, 2, 3, 4"
    ),
    "dates above": sql(
        "SELECT d, h, count(*) FROM (SELECT CAST(at AS DATE) d, extract(HOUR FROM at) h, uid "
        "FROM lake.shop.ev) WHERE uid < 30 GROUP BY ROLLUP (d, h)"
    ),
    "odd dates": sql(
        "SELECT date_trunc('MM', at + INTERVAL 1 DAY), upper(city), weekofyear(day), "
        "trunc(at, 'MM'), count(*) FROM lake.shop.ev GROUP BY 1, 2, 3, 4"
    ),
    "elsewhere": _with(
        "spark.sql.session.timeZone",
        "Europe/Berlin",
        sql("SELECT date_trunc('MM', at), month(day), count(*) FROM lake.shop.ev GROUP BY 1, 2"),
    ),
    "strict": _with(
        "spark.sql.ansi.enabled",
        "true",
        sql("SELECT year(day), count(*) FROM lake.shop.ev GROUP BY 1"),
    ),
    "view": _view("SELECT uid, name FROM lake.shop.dim", "SELECT name FROM seen WHERE uid = 4"),
    "scalar": sql(
        "SELECT (SELECT max(uid) FROM lake.shop.dim WHERE name > 'a') FROM lake.shop.ev "
        "WHERE uid = 1"
    ),
    # Answered from metadata, without a scan.
    "metadata too": sql("SELECT (SELECT max(uid) FROM lake.shop.dim) FROM lake.shop.ev"),
    "view of rows": _view(
        "SELECT * FROM VALUES (1, 'a') AS v (uid, name)",
        "SELECT id FROM lake.shop.ev JOIN seen USING (uid)",
    ),
    "view of a file": _file,
    "range": sql("SELECT count(*) FROM lake.shop.ev JOIN range(5) r ON r.id = uid"),
    "both": sql("SELECT count(*) FROM lake.shop.ev JOIN maker.shop.dim USING (uid)"),
    "unused": sql(
        "WITH hidden AS (SELECT * FROM maker.shop.dim) SELECT id FROM lake.shop.ev WHERE uid = 3"
    ),
    "unused legacy": _with(
        "spark.sql.legacy.ctePrecedencePolicy",
        "LEGACY",
        sql(
            "WITH hidden AS (SELECT * FROM lake.shop.dim) SELECT id FROM lake.shop.ev WHERE uid = 3"
        ),
    ),
    "folded": sql(
        "SELECT id FROM lake.shop.ev WHERE uid = 6 "
        "OR EXISTS (SELECT 1 FROM lake.shop.dim WHERE 1 = 2)"
    ),
    "beside files": sql(
        "SELECT count(*) FROM lake.shop.ev WHERE qty > (SELECT count(*) FROM lake.shop.dim.files)"
    ),
    # None of these is told of.
    "metadata": sql("SELECT count(*) FROM lake.shop.ev.files"),
    "command": sql("SHOW TABLES IN lake.shop"),
    "nothing": sql("SELECT 1"),
    "others": sql("SELECT count(*) FROM maker.shop.ev WHERE uid = 1"),
    "disabled": _with(
        "spark.lakewarden.queries.enabled",
        "false",
        sql("SELECT id FROM lake.shop.ev WHERE uid = 2"),
    ),
    "last": sql("SELECT id FROM lake.shop.ev WHERE uid = 49"),
}


def make_tables(spark: SparkSession) -> None:
    """Make the tables by a catalog that tells of nothing."""
    spark.sql(
        "CREATE TABLE maker.shop.ev (id BIGINT, uid BIGINT, city STRING, note STRING, "
        "price DOUBLE, qty INT, props STRUCT<a: STRING>, at TIMESTAMP, day DATE) "
        "USING iceberg PARTITIONED BY (day)"
    )
    for day in (1, 2, 3):
        spark.sql(
            "INSERT INTO maker.shop.ev SELECT id, id % 50, IF(id % 2 = 0, 'Kiel', 'Ulm'), "
            "CAST(id AS STRING), id * 1.5D, CAST(id % 5 AS INT), "
            f"named_struct('a', CAST(id AS STRING)), TIMESTAMP '2026-11-0{day} 12:00:00', "
            f"DATE '2026-11-0{day}' FROM range(300)"
        )
    spark.sql("CREATE TABLE maker.shop.dim (uid BIGINT, name STRING) USING iceberg")
    spark.sql(f"INSERT INTO maker.shop.dim SELECT id, concat('{SECRET}', id) FROM range(50)")
    spark.sql("CREATE TABLE maker.shop.copy (uid BIGINT, name STRING) USING iceberg")


def told(root: Path, base: str, act: str, *, reporter: str = "", listens: bool = True) -> list[Any]:
    """Run a driver that tells of its queries at an address; returns the lines that it printed."""
    (root / "token").write_text("secret-of-spark\n", encoding="utf-8")
    settings = {"spark.sql.queryExecutionListeners": LISTENER} if listens else {}
    for name, implementation in CLASSES.items():
        own = f"spark.sql.catalog.{name}"
        settings |= {own: implementation, f"{own}.type": "hadoop"}
        settings[f"{own}.warehouse"] = f"file:{root}/warehouse"
        if name != "maker":
            settings[f"{own}.lakewarden.scan-report-uri"] = base
            settings[f"{own}.lakewarden.report-token-file"] = f"{root}/token"
        if name == "indexed" and reporter:
            settings[f"{own}.metrics-reporter-impl"] = reporter
    own = "spark.sql.catalog.spark_catalog.lakewarden"
    settings |= {f"{own}.scan-report-uri": base, f"{own}.report-token-file": f"{root}/token"}
    arguments = " ".join(f"--conf {key}={value}" for key, value in settings.items())
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.query_teller", str(root), act],
        cwd=REPO,
        env={**os.environ, "PYSPARK_SUBMIT_ARGS": f"{arguments} pyspark-shell"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"')]


def named(portal: ReportPortal, lines: list[Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return what the portal was told, in order, each query by the name of who ran it."""
    told = [one for body in portal.bodies for one in body.get("queries", ())]
    found = []
    for query in sorted(told, key=lambda one: int(one["execution"])):
        number = query["execution"]
        (name,) = [one["name"] for one in lines if one["first"] <= number < one["end"]]
        found.append((name, query))
    return found


def _executions(spark: SparkSession) -> int:
    """Return how many executions Spark has numbered, once all that has happened is known."""
    session: Any = spark._jsparkSession
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    return int(session.sharedState().statusStore().executionsCount())


def _say(line: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def _many(spark: SparkSession) -> None:
    point = spark.sql("SELECT name FROM lake.shop.dim WHERE uid = 5")
    took = []
    for _ in range(MANY):
        began = monotonic()
        point.collect()
        took.append(monotonic() - began)
    context: Any = spark.sparkContext
    # Its listeners have heard of all of them.
    context._jsc.sc().listenerBus().waitUntilEmpty()
    counts = context._jvm.lakewarden.reports.QueryListener.counts()
    said = {str(key): dict(counts[key]) for key in counts}
    _say({"took": took, "counts": said})


def _run(spark: SparkSession, queries: Mapping[str, Act]) -> None:
    for name, query in queries.items():
        first = _executions(spark)
        query(spark)
        _say({"name": name, "first": first, "end": _executions(spark)})


def main(arguments: list[str]) -> None:
    """Run what is asked for."""
    from tests.support import hudi_queries
    from tests.support.scan_spark import local_session

    place, act = arguments
    spark = local_session(extensions=hudi_queries.EXTENSIONS if act == "hudi" else ())
    for name in CLASSES:
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {name}.shop")
    make_tables(spark)
    if act == "many":
        _many(spark)
    elif act == "hudi":
        hudi_queries.make_tables(spark, Path(place))
        _run(spark, hudi_queries.QUERIES)
    else:
        _run(spark, QUERIES)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
