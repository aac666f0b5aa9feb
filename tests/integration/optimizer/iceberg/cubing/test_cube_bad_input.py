"""Bad input against jobs that build cubes: a clear reason, and answers that stay the tables'."""

import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.sql import SparkSession

from optimizer.cubes.domain.drafts import Draft, parse_draft
from optimizer.cubes.jobs import estimate
from tests.support.built_cubes import CubedTable
from tests.support.file_lake import FileLake
from tests.support.scan_spark import job_for

BY_CITY = (
    "SELECT city, count(*), sum(qty), min(price) FROM {t} f JOIN {t}_stores s ON f.store = s.s "
    "GROUP BY city"
)
LEFT = BY_CITY.replace("JOIN", "LEFT JOIN")
BY_MODE = "SELECT mode, count(*), sum(qty), count(DISTINCT mode) FROM {t} GROUP BY mode"
ALL = "SELECT count(*) FROM {t}"


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FileLake]:
    lake = FileLake.at(spark, tmp_path_factory.mktemp("bad"))
    yield lake
    lake.close()


@pytest.fixture
def table(lake: FileLake) -> CubedTable:
    return CubedTable.make(lake).fill(1, rows=120)


def same(table: CubedTable, query: str) -> bool:
    """Check that a query has one answer through both catalogs; say whether a cube gave it."""
    spark, name = table.lake.spark, f"{table.lake.db}.{table.name}"
    right = spark.sql(query.replace("{t}", f"lake.{name}"))
    frame = spark.sql(query.replace("{t}", f"indexed.{name}"))
    used = "[Cube " in frame._jdf.queryExecution().toString()
    assert sorted(map(repr, frame.collect())) == sorted(map(repr, right.collect())), query
    return used


def why(table: CubedTable, query: str) -> str:
    frame = table.lake.spark.sql(query.replace("{t}", f"indexed.{table.lake.db}.{table.name}"))
    jvm: Any = table.lake.spark._jvm
    return " ".join(jvm.lakewarden.cubes.Answers.why(frame._jdf))


def plain(table: CubedTable, name: str, *dimensions: tuple[str, str, str], **more: Any) -> Any:
    """A definition without joins; dimensions are name, expression and type."""
    made = [{"name": n, "expression": x, "type": of} for n, x, of in dimensions]
    return table.definition(name, joins=[], dimensions=made, star_tree=None, **more)


def measure(name: str, expression: str, of: str, *functions: str) -> dict[str, Any]:
    return {"name": name, "expression": expression, "type": of, "functions": list(functions)}


def test_a_key_that_comes_twice_after_the_build_stops_builds_until_it_is_gone(
    table: CubedTable,
) -> None:
    table.keep()
    assert same(table, BY_CITY)
    table.say("INSERT INTO {t}_stores VALUES (1, 'twice', 1)")
    assert not same(table, BY_CITY)
    assert same(table, BY_MODE)
    twice = table.keep()
    assert twice["code"] == "cube.duplicate_key"
    assert "s = 1" in twice["cube_problems"]["by_city"]
    assert not same(table, BY_CITY)
    table.say("DELETE FROM {t}_stores WHERE city = 'twice'")
    assert table.keep()["code"] == ""
    assert same(table, BY_CITY)


def test_a_row_without_its_partner_leaves_its_file_uncovered(table: CubedTable) -> None:
    table.say("INSERT INTO {t} VALUES (900, '2026-05-01', 77, 5, 1.5, 'a')")
    table.keep()
    assert table.check().uncovered_files == 1
    assert [same(table, one) for one in (BY_CITY, LEFT, BY_MODE)] == [True, True, True]
    table.say("INSERT INTO {t}_stores VALUES (77, 'late', 2)")
    table.keep()
    assert table.check().uncovered_files == 0
    assert same(table, BY_CITY)
    # A partner that goes takes the files that need it; what is left is answered or refused.
    table.say("DELETE FROM {t}_stores WHERE s = 3")
    table.keep()
    for query in (BY_CITY, LEFT, BY_MODE):
        same(table, query)


@pytest.mark.long
def test_twelve_dimensions_as_large_as_the_table_are_refused(lake: FileLake) -> None:
    table = CubedTable.make(lake)
    columns = ", ".join(f"CAST(id * {n + 3} % 97 AS INT) AS d{n}" for n in range(12))
    table.say(f"CREATE TABLE {{t}}_wide USING iceberg AS SELECT {columns} FROM range(2000)")
    wide = CubedTable(lake, f"{table.name}_wide")
    draft = Draft("all", dimensions="\n".join(f"d{n}" for n in range(12)), max_leaf=1, budget=1.5)
    name = f"{lake.db}.{wide.name}"
    wide.say(
        "INSERT INTO {t} SELECT CAST(id AS INT), " + ", ".join(["7"] * 11) + " FROM range(900)"
    )
    params = {
        "db": lake.db,
        "table": wide.name,
        "uuid": wide.opened.uuid,
        "definition": parse_draft(draft, name),
    }
    job = job_for(lake.spark, lake.config, params, now=datetime(2026, 11, 23, tzinfo=UTC))
    found = estimate.run(lake.spark, job)
    assert not found["pays"]
    assert "above 33% it saves too little" in found["reason"]
    assert found["cube_rows"] <= found["star_rows"] <= 1.5 * found["cube_rows"] + 1


@pytest.mark.long
@pytest.mark.parametrize(("budget", "has_tree"), [(1.01, False), (9.0, True)])
def test_a_star_tree_stays_within_its_budget(
    table: CubedTable, budget: float, *, has_tree: bool
) -> None:
    star = {"max_leaf": 1, "dimensions": [], "skip_star": [], "budget": budget}
    assert table.keep(table.definition(star_tree=star))["code"] == ""
    rows = table.lake.spark.table(table.cube().sql)
    assert (rows.where("star <> 0").count() > 0) is has_tree
    assert rows.count() <= budget * rows.where("star = 0").count()
    assert table.check().uncovered_files == 0
    assert same(table, BY_CITY)


def test_nan_and_negative_zero_are_those_of_the_table(table: CubedTable) -> None:
    table.say("ALTER TABLE {t} ADD COLUMN x DOUBLE")
    values = ("'NaN'", "-0.0", "0.0", "1.5", "NULL", "'-Infinity'")
    for n, value in enumerate(values):
        table.say(
            f"INSERT INTO {{t}} SELECT {n}, '2026-05-01', {n}, 1, 1, 'm{n % 3}', "
            f"CAST({value} AS DOUBLE)"
        )
    x = measure("x", "fact.x", "double", "min", "max", "count")
    cube = plain(table, "floats", ("mode", "fact.mode", "string"), measures=[x])
    assert table.keep(cube)["code"] == ""
    for of in ("min(x)", "max(x)", "count(x)", "min(x), count(*)", "sum(x)", "avg(x)"):
        same(table, f"SELECT mode, {of} FROM {{t}} GROUP BY mode")
    assert same(table, "SELECT mode, count(x) FROM {t} GROUP BY mode")
    wrong = plain(table, "grouped", ("x", "fact.x", "double"))
    assert table.keep(wrong)["code"] == "cube.definition"
    summed = plain(
        table, "s", ("mode", "fact.mode", "string"),
        measures=[measure("x", "fact.x", "double", "sum")],
    )  # fmt: skip
    assert "order of the rows" in table.keep(summed)["reason"].replace("its rows", "the rows")


def test_sums_overflow_as_those_of_the_table_or_are_refused(table: CubedTable) -> None:
    table.say("ALTER TABLE {t} ADD COLUMNS (big BIGINT, money DECIMAL(28, 0), most DECIMAL(38, 0))")
    high = "9" * 28
    for n in range(3):
        table.say(
            f"INSERT INTO {{t}} SELECT id, '2026-05-01', 1, 1, 1, 'a', 9223372036854775807, "
            f"{high}, {'9' * 38} FROM range({n}, {n + 20})"
        )
    measures = [
        measure("big", "fact.big", "bigint", "sum", "count", "max"),
        measure("money", "fact.money", "decimal(28,0)", "sum", "count"),
    ]
    cube = plain(table, "sums", ("mode", "fact.mode", "string"), measures=measures)
    assert table.keep(cube)["code"] == ""
    assert same(table, "SELECT mode, sum(big), sum(money), max(big) FROM {t} GROUP BY mode")
    same(table, "SELECT sum(money), avg(money) FROM {t}")
    assert not same(table, "SELECT avg(big) FROM {t}")
    assert not same(table, "SELECT sum(most) FROM {t}")
    measures = [measure("most", "fact.most", "decimal(38,0)", "sum")]
    wide = plain(table, "wide", ("mode", "fact.mode", "string"), measures=measures)
    refused = table.keep(wide)
    assert refused["code"] == "cube.definition", refused
    assert "28 digits" in refused["reason"] or "38 digits" in refused["reason"], refused


@pytest.mark.long
def test_days_at_the_edges_of_a_zone_are_answered_in_that_zone_only(table: CubedTable) -> None:
    spark = table.lake.spark
    table.say("ALTER TABLE {t} ADD COLUMN at TIMESTAMP")
    edges = (
        *("2026-03-28T22:59:59.999999Z", "2026-03-28T23:00:00Z", "2026-03-29T00:59:59Z"),
        *("2026-03-29T01:00:00Z", "2026-03-29T21:59:59Z", "2026-03-29T22:00:00Z"),
        *("2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "1893-03-31T23:06:31Z"),
        "0001-01-03T00:00:00Z",
    )  # fmt: skip
    for n, edge in enumerate(edges):
        table.say(f"INSERT INTO {{t}} SELECT {n}, '2026-05-01', 1, {n}, 1, 'a', TIMESTAMP '{edge}'")
    dimensions = (
        ("day", "date_trunc('DAY', fact.at)", "timestamp"),
        ("hour", "hour(fact.at)", "int"),
    )
    cube = plain(table, "zoned", *dimensions, time_zone="Europe/Berlin")
    assert table.keep(cube)["code"] == ""
    queries = (
        "SELECT date_trunc('DAY', at), count(*), sum(qty) FROM {t} GROUP BY 1",
        "SELECT date_trunc('dd', at), avg(qty) FROM {t} GROUP BY 1",
        "SELECT hour(at), count(*) FROM {t} WHERE date_trunc('DAY', at) > '2026-01-01' GROUP BY 1",
    )
    try:
        for zone, expected in (("UTC", False), ("Europe/Berlin", True), ("Asia/Kathmandu", False)):
            spark.conf.set("spark.sql.session.timeZone", zone)
            assert [same(table, one) for one in queries] == [expected] * 3, zone
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


@pytest.mark.long
def test_renamed_and_dropped_columns_are_said_and_answers_stay_right(table: CubedTable) -> None:
    table.keep()
    renamed = BY_MODE.replace("mode", "way")
    table.say("ALTER TABLE {t} RENAME COLUMN mode TO way")
    table.say("INSERT INTO {t} VALUES (900, '2026-05-01', 2, 5, 1.5, 'new')")
    moved = table.keep()
    assert moved["code"] == "cube.column_gone"
    assert "has no column mode any more" in moved["cube_problems"]["by_city"]
    same(table, renamed)
    table.say("ALTER TABLE {t} DROP COLUMN way")
    assert not same(table, ALL)
    gone = table.keep()
    assert gone["code"] == "cube.column_gone"
    assert "define the cube again" in gone["cube_problems"]["by_city"]
    table.say("ALTER TABLE {t} ADD COLUMN way STRING")
    assert not same(table, renamed)


def test_tables_replaced_or_dropped_under_their_names_are_never_mixed_up(table: CubedTable) -> None:
    definition = table.definition()
    table.keep(definition)
    table.say("DROP TABLE {t}_regions")
    table.say("CREATE TABLE {t}_regions (r INT, title STRING) USING iceberg")
    table.say("INSERT INTO {t}_regions VALUES (1, 'other'), (2, 'south'), (3, NULL)")
    known = table.coverage().joined["re"].uuid
    definition["joins"][1]["uuid"] = known
    region = (
        "SELECT title, count(*) FROM {t} f JOIN {t}_stores s ON f.store = s.s "
        "JOIN {t}_regions r ON s.region = r.r GROUP BY title"
    )
    assert not same(table, region)
    assert table.keep(definition)["code"] == "cube.table_replaced"
    assert not same(table, region)
    table.say("DROP TABLE {t}_regions")
    dropped = table.keep(definition)
    assert dropped["code"] == "iceberg.gone", dropped
    assert "_regions" in dropped["cube_problems"]["by_city"]
    same(table, BY_CITY)
    table.say("CREATE TABLE {t}_kept USING iceberg AS SELECT * FROM {t} WHERE id < 50")
    name = f"{table.lake.db}.{table.name}__cube_by_city"
    table.say("DROP TABLE {t}")
    table.say(
        "CREATE TABLE {t} USING iceberg TBLPROPERTIES ('lakewarden.cubes' = "
        f"'{name}') AS SELECT * FROM {{t}}_kept"
    )
    assert not same(table, BY_MODE)
    assert "another table" in why(table, BY_MODE)
    assert table.keep(definition)["code"] in ("cube.table_replaced", "iceberg.gone")
    assert not same(table, BY_MODE)


LOST = ("cube.busy", "cube.rows_gone", "iceberg.conflict")
"""How a builder ends when another one was faster."""


def test_of_two_builders_at_once_each_file_is_counted_once(table: CubedTable) -> None:
    table.fill(3, rows=60, start=5000)
    order = table.lake.task(table, kind="CUBE", cubes=[table.definition()])
    lake = table.lake
    assert isinstance(lake, FileLake)
    failed: list[BaseException] = []

    def rival() -> None:
        try:
            assert not lake.kill(order, "nowhere:before", may_lose=LOST)
        except BaseException as error:
            failed.append(error)

    other = threading.Thread(target=rival)
    other.start()
    while other.is_alive():
        result = table.keep()
        assert result["code"] in {"", *LOST}, result
        time.sleep(0.2)
    other.join()
    assert not failed, failed
    assert table.keep()["code"] == ""
    assert table.check().uncovered_files == 0
    assert table.coverage().exact
    assert same(table, BY_CITY)


def test_a_cube_whose_snapshot_expired_is_built_again(table: CubedTable) -> None:
    table.keep()
    cube = table.cube()
    rows = table.lake.spark.table(cube.sql)
    others = [f"`{name}`" for name in rows.columns if name != "unit"]
    rows.selectExpr("unit + 1 AS unit", *others).writeTo(cube.sql).append()
    later = int((time.time() + 60) * 1000)
    table.cube().java.expireSnapshots().expireOlderThan(later).retainLast(1).commit()
    assert "has expired" in why(table, BY_MODE)
    assert table.keep()["code"] == ""
    assert table.check().uncovered_files == 0
    assert table.coverage().exact
    assert same(table, BY_CITY)


@pytest.mark.parametrize(
    "expression",
    [
        "fact.mode) FROM lake.shop.secret --",
        "fact.mode; DROP TABLE lake.shop.x",
        "(SELECT max(s) FROM lake.shop.secret)",
        "reflect('java.lang.System', 'exit', fact.mode)",
        "fact.`mode``; DROP TABLE x`",
        "concat(fact.mode, '\\'; DROP TABLE x')",
        "java_method('java.lang.Runtime', fact.mode)",
    ],
)
def test_sql_in_a_definition_is_refused_before_anything_is_read(
    table: CubedTable, expression: str
) -> None:
    cube = plain(table, "bad", ("mode", expression, "string"))
    refused = table.keep(cube)
    assert refused["code"] in {"cube.expression", "cube.definition"}, refused
    assert "bad" in refused["cube_problems"]
    for where, text in (("name", "x` (a int); --"), ("table", "shop.x; DROP TABLE y")):
        made = table.definition()
        if where == "name":
            made["name"] = text
        else:
            made["joins"][0]["table"] = text
        assert table.keep(made)["code"], made


def test_quotes_in_an_expression_stay_text(table: CubedTable) -> None:
    cube = plain(table, "said", ("said", "concat(fact.mode, '\"it''s; `x` -- ')", "string"))
    result = table.keep(cube)
    if not result["code"]:
        assert table.check("said").uncovered_files == 0
    else:
        assert result["code"] == "cube.expression", result


def test_a_query_with_two_hundred_predicates_is_answered(table: CubedTable) -> None:
    table.keep()
    some = [f"mode <> 'x{n}'" for n in range(100)] + [f"dt <> '2025-01-{n}'" for n in range(100)]
    started = time.monotonic()
    assert same(
        table, f"SELECT mode, count(*) FROM {{t}} WHERE {' AND '.join(some[:100])} GROUP BY 1"
    )
    either = " OR ".join(f"(mode = 'mode{n}' AND mode > 'a{n}')" for n in range(100))
    assert same(table, f"SELECT count(*), sum(qty) FROM {{t}} WHERE {either}")
    same(table, f"SELECT count(*) FROM {{t}} WHERE {' AND '.join(some)}")
    assert time.monotonic() - started < 120
