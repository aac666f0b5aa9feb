"""After every batch of changes the table is what the whole query gives."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from pipelines.commits.jobs.hudi_source import HudiSource
from pipelines.commits.jobs.tables import open_source
from pipelines.materialized.domain import planner
from pipelines.materialized.domain.planner import Way
from portal.lake.errors import RuleViolation
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from tests.support.changed_tables import ChangedHudi, some_rows
from tests.support.iceberg_lake import IcebergLake
from tests.support.materialized_tables import EVERYTHING, PLAIN, Died, Materialized

pytestmark = pytest.mark.spark
Step = Callable[[], object]
MOMENTS = ("distinct:before", "distinct:after", "target:before", "target:after")


@pytest.fixture
def any_dirty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have small tables go by changes too, however many of their groups are dirty."""
    monkeypatch.setattr(planner, "MOST_DIRTY", 1.0)


def materialized(spark: SparkSession, table: ChangedHudi, place: Path, sql: str) -> Materialized:
    source = HudiSource.open(spark, "db.rows", table.location)
    return Materialized(spark, place, {"db.rows": source}, sql)


def steps_of(table: ChangedHudi, random: Random) -> dict[str, Step]:
    """Return all ways in which a table changes."""
    found: dict[str, Step] = {
        "upsert": lambda: table.write(some_rows(random, 8)),
        "delete": lambda: table.delete(random.sample(range(40), 10)),
        "overwrite": lambda: table.write(
            [(n, "d1", "a", n, None) for n in random.sample(range(100, 120), 3)],
            "insert_overwrite",
        ),
        "delete_partition": lambda: table.delete_partition(random.choice(("d0", "d2"))),
        "cluster": lambda: table.cluster(some_rows(random, 4)),
        "roll_back": table.roll_back,
    }
    if table.kind == "MERGE_ON_READ":
        found["compact"] = lambda: table.compact(some_rows(random, 4))
    return found


def follow(kept: Materialized, steps: dict[str, Step], names: list[str], random: Random) -> int:
    """Take steps, refresh after each with a crash now and then; returns how many by changes."""
    n = 0
    for name in names:
        steps[name]()
        moment = "" if name == "roll_back" else random.choice((*MOMENTS, "", ""))
        try:
            done = kept.refresh(dying=moment)
        except Died:
            done = kept.refresh()
        kept.assert_right()
        n += done.plan.way is Way.INCREMENTAL
        if name == "roll_back":
            assert done.plan.way is Way.FULL
            assert "rolled back" in done.plan.reason
    return n


@pytest.mark.usefixtures("any_dirty")
@pytest.mark.parametrize(
    ("kind", "is_logged", "sql", "taken"),
    [
        ("COPY_ON_WRITE", False, EVERYTHING, ["upsert", "overwrite"]),
        ("MERGE_ON_READ", True, PLAIN, ["upsert", "compact", "delete_partition", "roll_back"]),
        pytest.param("COPY_ON_WRITE", False, EVERYTHING, 24, marks=pytest.mark.long),
        pytest.param("COPY_ON_WRITE", True, PLAIN, 24, marks=pytest.mark.long),
        pytest.param("MERGE_ON_READ", False, EVERYTHING, 24, marks=pytest.mark.long),
        pytest.param("MERGE_ON_READ", True, PLAIN, 24, marks=pytest.mark.long),
    ],
)
def test_every_change_of_hudi(
    spark: SparkSession,
    tmp_path: Path,
    kind: str,
    is_logged: bool,
    sql: str,
    taken: list[str] | int,
) -> None:
    random = Random(11)
    table = ChangedHudi(spark, tmp_path / "rows", kind, is_logged)
    table.write(some_rows(random, 30))
    kept = materialized(spark, table, tmp_path / "kept", sql)
    assert kept.refresh().plan.way is Way.FULL
    kept.assert_right()
    steps = steps_of(table, random)
    if isinstance(taken, int):
        taken = [random.choice(list(steps)) for _ in range(taken)]
    by_changes = follow(kept, steps, taken, random)
    assert by_changes >= len(taken) // 2
    assert kept.refresh().plan.way is Way.NOTHING


@pytest.mark.usefixtures("any_dirty")
def test_a_table_keeps_the_old_version_in_which_it_was_made(
    spark: SparkSession, tmp_path: Path
) -> None:
    random = Random(12)
    table = ChangedHudi(spark, tmp_path / "rows")
    table.write(some_rows(random, 30))
    kept = materialized(spark, table, tmp_path / "kept", PLAIN)
    kept.version = 6
    kept.refresh()
    kept.assert_right()
    kept.version = 0
    table.write(some_rows(random, 8))
    assert kept.refresh().plan.way is Way.INCREMENTAL
    kept.assert_right()
    table.delete([one.id for one in table.rows() if one.dt == "d1"])
    assert kept.refresh().plan.way is Way.INCREMENTAL
    kept.assert_right()
    kept.version = 9
    kept.refresh(is_full=True)
    kept.assert_right()
    properties = (tmp_path / "kept" / ".hoodie" / "hoodie.properties").read_text("utf-8")
    assert "hoodie.table.version=6" in properties.splitlines()


@pytest.mark.usefixtures("any_dirty")
def test_changes_of_iceberg(iceberg_lake: IcebergLake, tmp_path: Path) -> None:
    table, cities = iceberg_lake.table(), iceberg_lake.table(by="")
    spark, db = iceberg_lake.spark, table.lake.db
    sources = {
        f"{db}.{one.name}": open_source(
            spark, iceberg_lake.config, TableName(LakeId("main"), db, one.name)
        )
        for one in (table, cities)
    }
    cities.append([(1, "x", "a"), (2, "y", "b")])
    table.append([(n, "d0", "ab"[n % 2]) for n in range(6)])
    sql = (
        f"SELECT c.dt AS region, count(*) AS n, min(t.id) AS low, sum(t.id) AS total "
        f"FROM {db}.{table.name} AS t JOIN {db}.{cities.name} AS c ON t.word = c.word GROUP BY c.dt"
    )
    kept = Materialized(spark, tmp_path / "kept", sources, sql)
    kept.refresh()
    kept.assert_right()
    for statement in (
        "INSERT INTO {t} VALUES (7, 'd1', 'a'), (8, 'd1', NULL), (9, 'd1', 'zz')",
        "UPDATE {t} SET word = 'b' WHERE id = 1",
        "INSERT OVERWRITE {t} VALUES (5, 'd0', 'a')",
    ):
        table.say(statement)
        assert kept.refresh().plan.way is Way.INCREMENTAL
        kept.assert_right()
    cities.say("UPDATE {t} SET dt = 'z' WHERE id = 1")
    done = kept.refresh()
    assert done.plan.way is Way.FULL
    assert f"joined table {db}.{cities.name} changed" in done.plan.reason
    kept.assert_right()


def test_many_dirty_groups_another_definition_and_foreign_rows(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = ChangedHudi(spark, tmp_path / "rows")
    table.write([(n, f"d{n % 3}", "ab"[n % 2], n, None) for n in range(12)])
    kept = materialized(spark, table, tmp_path / "kept", PLAIN)
    kept.refresh()
    table.delete([9, 10, 11])
    done = kept.refresh()
    assert done.plan.way is Way.FULL
    assert "3 of 6 groups lost their least or greatest value" in done.plan.reason
    kept.assert_right()

    kept.sql = PLAIN.replace("count(qty)", "min(id)")
    done = kept.refresh()
    assert (done.plan.way, done.plan.reason) == (Way.FULL, "Its definition changed.")
    kept.assert_right()

    # What somebody else writes is refused, and a full computation takes it away.
    taken = kept.target.read().limit(1).drop(*[f"_hoodie_{x}" for x in (
        "commit_time", "commit_seqno", "record_key", "partition_path", "file_name")])  # fmt: skip
    taken.write.format("hudi").mode("append").options(
        **{"hoodie.table.name": "kept", "hoodie.metadata.enable": "false"}
    ).save(kept.target.location)
    with pytest.raises(RuleViolation, match="by somebody else"):
        kept.refresh()
    assert kept.refresh(is_full=True).plan.reason == "Somebody asked for it."
    kept.assert_right()
    kept.owner = "another"
    with pytest.raises(RuleViolation, match="target of something else"):
        kept.refresh(is_full=True)


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT price * 1.0D AS p, count(*) AS n FROM db.rows GROUP BY 1", "is double"),
        ("SELECT dt, sum(city) AS s FROM db.rows GROUP BY dt", "is string"),
        ("SELECT nope, count(*) AS n FROM db.rows GROUP BY 1", "does not understand"),
        ("SELECT upper(city) AS ts, count(*) AS n FROM db.rows GROUP BY ts", "column of that"),
    ],
)
def test_types_and_names_that_cannot_be_kept_are_refused(
    spark: SparkSession, tmp_path: Path, sql: str, reason: str
) -> None:
    table = ChangedHudi(spark, tmp_path / "rows")
    table.write([(1, "d0", "a", 1, None)])
    with pytest.raises(RuleViolation, match=reason):
        materialized(spark, table, tmp_path / "kept", sql).refresh()
    assert not (tmp_path / "kept").exists()


@pytest.mark.long
@pytest.mark.usefixtures("any_dirty")
def test_counts_that_are_ahead_are_caught_up_with_or_counted_again(
    spark: SparkSession, tmp_path: Path
) -> None:
    random = Random(5)
    table = ChangedHudi(spark, tmp_path / "rows")
    table.write(some_rows(random, 30))
    kept = materialized(spark, table, tmp_path / "kept", EVERYTHING)
    kept.refresh()
    for is_rolled_back in (False, True):
        table.write(some_rows(random, 6))
        with pytest.raises(Died):
            kept.refresh(dying="distinct:after")
        if is_rolled_back:
            table.roll_back()
        kept.refresh()
        kept.assert_right()


def test_tables_whose_names_run_together_are_told_apart(
    spark: SparkSession, tmp_path: Path
) -> None:
    facts, cities = (ChangedHudi(spark, tmp_path / one) for one in ("facts", "cities"))
    facts.write([(1, "d0", "a", 1, None), (2, "d0", "a", 2, None), (3, "d1", "b", 3, None)])
    cities.write([(1, "north", "a", 0, None), (2, "south", "b", 0, None)])
    sources = {
        "db_a.rows": HudiSource.open(spark, "db_a.rows", facts.location),
        "db.a_rows": HudiSource.open(spark, "db.a_rows", cities.location),
    }
    sql = (
        "SELECT c.dt AS region, count(*) AS n, sum(f.qty) AS qty FROM db_a.rows AS f "
        "JOIN db.a_rows AS c ON f.city = c.city GROUP BY c.dt"
    )
    kept = Materialized(spark, tmp_path / "kept", sources, sql)
    kept.refresh()
    assert sorted(kept.rows()) == [("north", 2, 3), ("south", 1, 3)]


def test_a_folder_of_somebody_else_beside_the_table_is_left_alone(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = ChangedHudi(spark, tmp_path / "rows")
    table.write([(1, "d0", "a", 1, None)])
    kept = materialized(spark, table, tmp_path / "kept", EVERYTHING)
    theirs = tmp_path / "kept__distinct"
    spark.range(3).write.parquet(str(theirs))
    with pytest.raises(RuleViolation, match="no table of Lakewarden's"):
        kept.refresh()
    assert not (theirs / ".hoodie").exists()
    assert not (tmp_path / "kept").exists()


def test_counts_of_another_definition_are_counted_again(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = ChangedHudi(spark, tmp_path / "rows")
    table.write([(n, f"d{n % 2}", "ab"[n % 2], n, None) for n in range(8)])
    sql = "SELECT dt, count(DISTINCT city) AS n FROM db.rows GROUP BY dt"
    kept = materialized(spark, table, tmp_path / "kept", sql)
    kept.refresh()
    kept.sql = sql.replace("city", "qty")
    with pytest.raises(Died):
        kept.refresh(dying="distinct:after")
    kept.sql = sql
    kept.refresh()
    table.write([(9, "d0", "c", 0, None)])
    kept.refresh()
    kept.assert_right()
