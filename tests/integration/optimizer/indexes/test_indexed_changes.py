"""Tables that change under their indexes: the indexed catalog gives the plain catalog's rows."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.support.indexed_tables import IndexedTable, IndexedTables

ALL = "SELECT * FROM {t} WHERE {where}"
KINDS = {"id": ["bloom"], "word": ["bitmap", "ngram_bloom"]}
SOURCE = "VALUES (5, 'five'), (15, 'fifteen'), (999, 'new') AS s(id, word)"


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> IndexedTables:
    return IndexedTables.under(spark, tmp_path_factory.mktemp("changed"))


def made(lake: IndexedTables, name: str, *, files: int = 4, **properties: str) -> IndexedTable:
    """Make a table of some files of 25 rows; each file holds every fourth id."""
    given = {
        "read.split.open-file-cost": str(128 << 20),
        "write.distribution-mode": "none",
        **{key.replace("__", "."): value for key, value in properties.items()},
    }
    said = ", ".join(f"'{key.replace('_', '-')}' = '{value}'" for key, value in given.items())
    lake.sql(
        "CREATE TABLE {t} (id INT, word STRING, score FLOAT) USING iceberg TBLPROPERTIES ({said})",
        table=name,
        said=said,
    )
    append(lake, name, files)
    return lake.table(name)


def append(lake: IndexedTables, name: str, files: int, *, first: int = 0) -> None:
    rows = 25 * files
    lake.spark.range(first, first + rows, 1, files).selectExpr(
        f"CAST((id - {first}) % 25 * {files} + (id - {first}) DIV 25 + {first} AS INT) AS id",
        "concat('w', id % 50) AS word",
        "CAST(id AS FLOAT) / 4 AS score",
    ).writeTo(f"plain.{name}").append()


def check(table: IndexedTable, *wheres: str) -> list[int]:
    """Check each condition; return the tasks through the indexed catalog."""
    return [table.lake.same(ALL, table=table.name, where=where)[1] for where in wheres]


@pytest.mark.parametrize(
    # Copies of version 3 need Iceberg's session extension, which the tests' application has not.
    ("version", "mode"),
    [
        pytest.param("2", "merge-on-read", marks=pytest.mark.long),
        ("2", "copy-on-write"),
        ("3", "merge-on-read"),
    ],
)
def test_deleted_and_changed_rows(lake: IndexedTables, version: str, mode: str) -> None:
    name = f"changes.v{version}_{mode.replace('-', '_')}"
    table = made(
        lake,
        name,
        format_version=version,
        write__delete__mode=mode,
        write__update__mode=mode,
        write__merge__mode=mode,
    ).index(KINDS)
    conditions = ("id = 5", "id IN (15, 16)", "word = 'w7'", "word LIKE '%w4%'", "id = 999")
    lake.sql("DELETE FROM {t} WHERE id = 5", table=name, catalog="indexed")
    check(table, *conditions)
    lake.sql("UPDATE {t} SET word = 'w7' WHERE id = 16", table=name, catalog="indexed")
    check(table, *conditions)
    lake.sql(
        "MERGE INTO {t} t USING (SELECT * FROM {source}) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET word = s.word "
        "WHEN NOT MATCHED THEN INSERT (id, word) VALUES (s.id, s.word)",
        table=name,
        catalog="indexed",
        source=SOURCE,
    )
    check(table, *conditions, "word = 'fifteen'", "word LIKE '%new%'")
    table.index(KINDS)
    assert max(check(table, *conditions)[:2]) < len(table.live())
    lake.sql("INSERT INTO {t} VALUES (5, 'again', 1.0)", table=name, catalog="indexed")
    check(table, *conditions, "word = 'again'")


def test_time_travel_branches_and_tags(lake: IndexedTables) -> None:
    table = made(lake, "changes.travel")
    first = table.java.currentSnapshot().snapshotId()
    table.java.manageSnapshots().createBranch("side").createTag("then", first).commit()
    append(lake, table.name, 4, first=100)
    lake.sql("INSERT INTO {t}.branch_side VALUES (7777, 'side', 0)", table=table.name)
    lake.sql("DELETE FROM {t} WHERE id < 50", table=table.name)
    table.index(KINDS)
    for clause, where in (
        (f"VERSION AS OF {first}", "id = 5"),
        ("VERSION AS OF 'side'", "id = 7777"),
        ("VERSION AS OF 'then'", "id = 5"),
        ("", "id = 5"),
        ("", "id = 105"),
    ):
        query = "SELECT * FROM {t} {clause} WHERE {where}"
        before, now = lake.same(query, table=table.name, clause=clause, where=where)
        assert now <= 1 <= max(before, 1)
    for suffix in (f"snapshot_id_{first}", "branch_side", "tag_then"):
        lake.same(
            "SELECT * FROM {t}.{suffix} WHERE id IN (5, 7777)", table=table.name, suffix=suffix
        )


def test_renamed_widened_dropped_and_added_columns(lake: IndexedTables) -> None:
    table = made(lake, "changes.evolving").index({**KINDS, "score": ["bloom", "bloomrf", "bitmap"]})
    for change in (
        "RENAME COLUMN word TO text",
        "ALTER COLUMN id TYPE BIGINT",
        "ALTER COLUMN score TYPE DOUBLE",
        "ADD COLUMN word INT",
        "ALTER COLUMN text FIRST",
    ):
        lake.sql("ALTER TABLE {t} {change}", table=table.name, change=change)
    lake.sql("INSERT INTO {t} VALUES ('w77', 4000000000, 0.1, 3)", table=table.name)
    assert lake.same(ALL, table=table.name, where="id = 15") == (4, 1)
    assert check(table, "text = 'w7'")[0] < 5
    check(table, "word = 3", "word IS NULL", "id = 4000000000", "score = 0.1", "score = 0.25D")
    assert check(table, "score = 0.25D") == [1]
    lake.sql("ALTER TABLE {t} DROP COLUMN text", table=table.name)
    lake.sql("ALTER TABLE {t} ADD COLUMN text STRING", table=table.name)
    check(table, "text = 'w7'", "text IS NULL AND id = 15")


def test_what_is_no_batch_read_is_the_plain_catalogs(lake: IndexedTables, tmp_path: Path) -> None:
    table = made(lake, "changes.other").index(KINDS)
    first = table.java.currentSnapshot().snapshotId()
    append(lake, table.name, 2, first=500)
    for name in ("files", "snapshots", "history", "entries", "partitions", "manifests"):
        lake.same("SELECT * FROM {t}.{name}", table=table.name, name=name)

    def incremental(catalog: str) -> list[Any]:
        read = lake.spark.read.option("start-snapshot-id", str(first))
        return sorted(read.table(f"{catalog}.{table.name}").where("id = 510").collect())

    assert incremental("plain") == incremental("indexed") != []

    def streamed(catalog: str) -> list[Any]:
        read = lake.spark.readStream.table(f"{catalog}.{table.name}").where("id IN (5, 510)")
        query = (
            read.writeStream.format("memory")
            .queryName(f"streamed_{catalog}")
            .option("checkpointLocation", str(tmp_path / catalog))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        return sorted(lake.spark.table(f"streamed_{catalog}").collect())

    assert streamed("plain") == streamed("indexed") != []
    for query in (
        "SELECT count(*), min(id), max(id) FROM {t}",
        "SELECT count(*) FROM {t} WHERE id = 5",
        "SELECT count(*) FROM {t} WHERE word LIKE '%w4%'",
        "SELECT a.id, b.word FROM {t} a JOIN {t} b ON a.id = b.id WHERE a.word LIKE '%w31%'",
        "SELECT (SELECT max(id) FROM {t} WHERE word LIKE '%w1%'), "
        "(SELECT max(id) FROM {t} WHERE word LIKE '%w2%')",
        "SELECT * FROM {t} WHERE id = 5 LIMIT 1",
    ):
        lake.same(query, table=table.name)


def test_a_rewrite_through_the_indexed_catalog_reads_every_row(lake: IndexedTables) -> None:
    table = made(lake, "changes.rewritten", format_version="3").index(KINDS)
    jvm: Any = lake.spark._jvm
    session = lake.spark._jsparkSession
    util = jvm.org.apache.iceberg.spark.Spark3Util
    java = util.loadIcebergTable(session, f"indexed.{table.name}")
    actions = jvm.org.apache.iceberg.spark.actions.SparkActions.get(session)
    action = actions.rewriteDataFiles(java).option("rewrite-all", "true")
    action.filter(jvm.org.apache.iceberg.expressions.Expressions.equal("id", 5)).execute()
    assert lake.spark.table(f"plain.{table.name}").count() == 100
    check(table, "id = 5", "word = 'w7'")


def test_a_long_list_of_values(lake: IndexedTables) -> None:
    table = made(lake, "changes.long").index({"id": ["bitmap"], "word": ["bitmap"]})
    absent = ", ".join(str(1000 + x) for x in range(3000))
    assert check(table, f"id IN (9, {absent}) AND id < 60") == [1]
    assert check(table, f"id NOT IN ({absent}) AND word IN ('none', 'w49')") != [0]
    words = ", ".join(f"'z{x}'" for x in range(2000))
    assert check(table, f"word IN ({words}, 'w3')")[0] <= 2


def test_row_groups_without_a_matching_row_are_not_read(lake: IndexedTables) -> None:
    table = made(
        lake,
        "changes.groups",
        files=1,
        write__parquet__row_group_size_bytes="64",
        write__parquet__row_group_check_min_record_count="5",
        write__parquet__row_group_check_max_record_count="5",
    )
    groups = len(table.entries()[0].split_offsets)
    assert groups >= 4
    table.index({"word": ["bitmap"], "id": ["bitmap sliced"]})
    before, now = lake.same(ALL, table=table.name, where="word LIKE 'w1%' AND word <> 'w1'")
    assert now < before == groups
    assert lake.report().groupsDropped() == groups - now
    before, now = lake.same(ALL, table=table.name, where="word = 'w13'")
    assert (before, now) == (groups, 1)
    lake.sql("DELETE FROM {t} WHERE id = 12", table=table.name)
    check(table, "word = 'w13'", "word = 'w12'", "id IN (11, 12, 13)")
    lake.same("SELECT _pos, _file, id FROM {t} WHERE word = 'w13'", table=table.name)
    lake.same("SELECT count(*) FROM {t} WHERE word = 'w13'", table=table.name)
