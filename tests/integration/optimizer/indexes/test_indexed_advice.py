"""Indexes are advice: damaged, foreign, newer, missing or late, the data files are read."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from pyspark.sql import SparkSession

from optimizer.indexes.domain.manifest import Covered, DataFile
from tests.integration.optimizer.indexes.test_indexed_changes import ALL, KINDS, append, made
from tests.support.indexed_tables import IndexedTable, IndexedTables


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> IndexedTables:
    return IndexedTables.under(spark, tmp_path_factory.mktemp("advice"))


def ask(table: IndexedTable, where: str = "id = 15") -> int:
    """Return the tasks through the indexed catalog, whose rows are right."""
    return table.lake.same(ALL, table=table.name, where=where)[1]


def _warned(table: IndexedTable) -> str:
    return str(table.lake.report().warnings())


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:40])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _turn_a_bit(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for at in range(60, len(data), 50):
        data[at] ^= 1
    path.write_bytes(bytes(data))


@pytest.mark.parametrize("harm", [_cut, _empty, _turn_a_bit, os.unlink])
def test_a_damaged_or_missing_index_file(lake: IndexedTables, harm: Callable[[Path], None]) -> None:
    table = made(lake, f"advice.harm{harm.__name__}").index(KINDS)
    for path in table.puffins():
        harm(path)
    assert ask(table) == 4
    assert "index" in _warned(table)


@pytest.mark.parametrize("harm", [_cut, _empty, _turn_a_bit])
def test_a_damaged_manifest(lake: IndexedTables, harm: Callable[[Path], None]) -> None:
    table = made(lake, f"advice.manifest{harm.__name__}").index(KINDS)
    harm(table.publish())
    assert ask(table) == 4
    assert "manifest is not used" in _warned(table)
    table.publish()
    assert ask(table) == 1


def test_a_manifest_of_another_table_or_of_a_newer_writer(
    lake: IndexedTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = made(lake, "advice.foreign").index(KINDS)
    table.publish(table_uuid=UUID(int=5))
    assert ask(table) == 4
    assert "of the table" in _warned(table)
    with monkeypatch.context() as patched:
        patched.setattr("optimizer.indexes.domain.manifest.VERSION", 2)
        table.publish()
    assert ask(table) == 4
    assert "version 2" in _warned(table)


def test_names_that_are_no_manifest_are_passed_over(lake: IndexedTables) -> None:
    table = made(lake, "advice.names").index(KINDS)
    folder = table.indexes / "manifests"
    for name in (f".v{9:020d}-{uuid4()}.json.gz", f"v{9:020d}-{uuid4()}.json.gz.tmp", "zzz"):
        (folder / name).write_bytes(b"no manifest")
    assert ask(table) == 1
    assert table.lake.report().warnings().isEmpty()


def test_a_table_copied_to_another_place_with_its_indexes(lake: IndexedTables) -> None:
    table = made(lake, "advice.copied").index(KINDS)
    other = made(lake, "advice.copy")
    folder = other.indexes
    folder.parent.mkdir()
    folder.symlink_to(table.indexes, target_is_directory=True)
    assert ask(other) == 4
    assert "of the table" in _warned(other)


@pytest.mark.parametrize("what", ["size", "records", "sequence"])
def test_a_data_file_that_was_written_again_under_its_name(lake: IndexedTables, what: str) -> None:
    table = made(lake, f"advice.again_{what}").index(KINDS)
    changed = {}
    for location, covered in table.published.items():
        old = covered.data_file
        values: dict[str, Any] = {**vars(old), what: getattr(old, what) + 1}
        changed[location] = Covered(DataFile(**values), covered.blobs)
    table.publish(covered=changed)
    assert ask(table) == 4
    assert "another than the indexed one" in _warned(table)


def test_blobs_swapped_between_data_files(lake: IndexedTables) -> None:
    table = made(lake, "advice.swapped").index(KINDS)
    first, *others = table.published.values()
    wrong = {one.data_file.location: Covered(one.data_file, first.blobs) for one in others}
    table.publish(covered={**table.published, **wrong})
    for where in ("id = 15", "id = 0", "word = 'w7'"):
        ask(table, where)
    assert "of another table, column or data file" in _warned(table)


def test_files_without_an_index_are_read(lake: IndexedTables) -> None:
    table = made(lake, "advice.uncovered").index(KINDS)
    append(lake, table.name, 2)
    assert ask(table) == 3
    assert lake.report().covered() == 4
    assert lake.report().files() == 6


def test_row_groups_that_differ_from_the_tables_own_are_not_used(lake: IndexedTables) -> None:
    table = made(lake, "advice.groups", files=1)
    table.index({"word": ["bitmap"]})
    ((location, covered),) = table.published.items()
    old = covered.data_file
    lied = DataFile(**{**vars(old), "row_groups": ((4, 20), (99, 5))})
    table.publish(covered={location: Covered(lied, covered.blobs)})
    assert ask(table, "word = 'w13'") == 1


@pytest.mark.parametrize(
    ("settings", "tasks"),
    [
        ({"enabled": "false"}, 4),
        ({"plan_ms": "0"}, 4),
        ({"max_blob_bytes": "10"}, 4),
        ({"cache_bytes": "0"}, 1),
        ({}, 1),
    ],
)
def test_limits(spark: SparkSession, tmp_path: Path, settings: dict[str, str], tasks: int) -> None:
    lake = IndexedTables.under(spark, tmp_path, **settings)
    table = made(lake, "advice.limits").index(KINDS)
    assert ask(table) == tasks
    if settings.get("cache_bytes") == "0":
        assert lake.catalog.cachedBytes() == 0
    elif tasks == 1:
        read = lake.report().blobsRead()
        assert ask(table) == tasks
        assert (read, lake.report().blobsRead()) in ((4, 0), (0, 0))
        off = lake.spark.read.option("lakewarden-indexes", "false")
        assert off.table(f"indexed.{table.name}").where("id = 15").rdd.getNumPartitions() == 4


def test_a_setting_that_is_no_number_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    lake = IndexedTables.under(spark, tmp_path, plan_ms="soon")
    with pytest.raises(Exception, match=r"plan-ms must be a number of 0 or more: soon"):
        lake.sql("SHOW NAMESPACES IN {c}", catalog="indexed")


def test_explain_says_what_was_dropped(lake: IndexedTables) -> None:
    table = made(lake, "advice.explained").index(KINDS)
    frame = lake.sql(ALL, table=table.name, catalog="indexed", where="id = 15")
    plan = frame._jdf.queryExecution().executedPlan().toString()
    assert "indexes: 3 of 4 files dropped by {bloom of id=3}" in plan


def test_the_planning_of_a_query_is_told_without_running_it(lake: IndexedTables) -> None:
    table = made(lake, "advice.planned").index(KINDS)
    jvm: Any = lake.spark._jvm
    snapshot = table.java.currentSnapshot().snapshotId()
    query = "SELECT * FROM {t} VERSION AS OF {snapshot} WHERE id = 15"
    frame = lake.sql(query, table=table.name, catalog="indexed", snapshot=str(snapshot))
    (told,) = jvm.lakewarden.indexes.Planning.of(frame._jdf)
    assert told["files"] == 4
    assert len(told["kept"]) == 1
    assert set(told["kept"]) <= set(table.live())
    assert told["kept_bytes"] < told["bytes"]
    assert dict(told["dropped"]) == {"bloom of id": 3}


def test_the_session_catalog_reads_iceberg_tables_with_indexes(
    spark: SparkSession, tmp_path: Path
) -> None:
    lake = IndexedTables.under(spark, tmp_path)
    made(lake, "default.in_session").index(KINDS)
    of_session = "spark.sql.catalog.spark_catalog"
    lake.spark.conf.set(of_session, "lakewarden.indexes.IndexedSessionCatalog")
    lake.spark.conf.set(f"{of_session}.type", "hadoop")
    lake.spark.conf.set(f"{of_session}.warehouse", f"file:{tmp_path}")
    found = lake.spark.sql("SELECT * FROM default.in_session WHERE id = 15")
    assert found.rdd.getNumPartitions() == 1
    assert [row.id for row in found.collect()] == [15]
    lake.spark.createDataFrame([(1,)], "one INT").createOrReplaceTempView("of_the_session")
    assert lake.spark.sql("SELECT * FROM of_the_session").count() == 1
