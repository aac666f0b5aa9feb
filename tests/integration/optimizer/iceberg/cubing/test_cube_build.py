"""Cubes built from real tables: exact, again only what is new, refused with the reason."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from optimizer.iceberg.access.jobs.task_sizes import LEAST_BYTES
from optimizer.iceberg.cubing.jobs.table_files import live_rows, table_files
from tests.support.built_cubes import CubedTable
from tests.support.iceberg_lake import IcebergLake


@pytest.mark.parametrize("version", [2, 3])
def test_a_cube_answers_as_its_files_do(iceberg_lake: IcebergLake, version: int) -> None:
    table = CubedTable.make(iceberg_lake, version=version).fill(3)
    table.say("DELETE FROM {t} WHERE id IN (3, 4, 5)")

    result = table.keep()

    assert result["outcome"] == "DONE", result
    judged = table.check()
    assert judged.uncovered_files == 0
    assert table.coverage().exact
    assert sum(one.rows for one in table.coverage().units) == 897
    assert table.coverage().bounds["qty"].max_abs == 29
    assert table.opened.properties["lakewarden.cubes"] == f"rewrites.{table.name}__cube_by_city"
    rows = iceberg_lake.spark.table(table.cube().sql)
    assert rows.where("star <> 0").count() > 0
    assert next(iter(table.cube().java.schema().columns())).doc()

    again = table.keep()
    assert again["outcome"] == "NOTHING", again
    table.fill(1, start=5000)
    assert table.check(seed=1).uncovered_files == 2
    third = table.keep()
    assert third["cubes"][0]["n_files_read"] == 2, third
    assert table.check(seed=2).uncovered_files == 0
    table.say("DELETE FROM {t} WHERE id = 5001")
    assert table.check(seed=3).uncovered_files == 1
    assert table.keep()["cubes"][0]["n_files_read"] == 1
    assert table.check(seed=4).uncovered_files == 0


def test_small_files_are_read_by_every_core(iceberg_lake: IcebergLake) -> None:
    table = CubedTable.make(iceberg_lake).fill(1)
    table.say(
        "ALTER TABLE {t} SET TBLPROPERTIES ('write.parquet.compression-codec' = 'uncompressed')"
    )
    table.say(
        "INSERT INTO {t} SELECT id, '2026-05-01', id % 9, 1, 1.5, repeat(uuid(), 8) "
        "FROM range(0, 60000, 1, 4)"
    )
    files = table_files(table.opened)
    assert sum(one.size for one in files) > 2 * LEAST_BYTES
    with live_rows(table.opened, files, {"id": "id"}) as rows:
        assert rows.rdd.getNumPartitions() >= 2
        assert rows.count() == sum(one.covered.records for one in files)


def test_compaction_is_followed_without_reading_data(iceberg_lake: IcebergLake) -> None:
    table = CubedTable.make(iceberg_lake).fill(4)
    table.keep()
    ours = table.lake.task(table, kind="MINOR", cubes=[table.definition()])
    (result,) = table.lake.optimize(ours)
    assert result["outcome"] == "DONE", result
    (cube,) = result["cubes"]
    assert (cube["n_units_merged"], cube["n_files_read"]) == (2, 0), result
    assert table.check().uncovered_files == 0

    table.fill(2, start=5000)
    table.keep()
    jvm: Any = table.lake.spark._jvm
    actions = jvm.org.apache.iceberg.spark.actions.SparkActions.get()
    actions.rewriteDataFiles(table.opened.java).option("rewrite-all", "true").execute()
    assert table.check(seed=1).covered_rows == 0
    (cube,) = table.keep()["cubes"]
    assert (cube["n_units_merged"], cube["n_files_read"]) == (2, 0), cube
    assert table.check(seed=2).uncovered_files == 0


def test_a_changed_dimension_takes_only_what_it_must(iceberg_lake: IcebergLake) -> None:
    table = CubedTable.make(iceberg_lake)
    table.say("INSERT INTO {t} VALUES (1, '2026-05-01', 1, 1, 1.5, 'a')")
    table.say("INSERT INTO {t} VALUES (2, '2026-05-01', 2, 2, 2.5, 'b')")
    table.keep()
    table.say("INSERT INTO {t}_stores VALUES (90, 'new', 1)")
    added = table.keep()["cubes"][0]
    assert (added["n_units_gone"], added["n_files_read"]) == (0, 0)
    assert len(table.coverage().joined["st"].snapshot_ids) == 2
    table.say("UPDATE {t}_stores SET city = 'moved' WHERE s = 2")
    moved = table.keep()["cubes"][0]
    assert (moved["n_units_gone"], moved["n_files_read"]) == (1, 1)
    table.say("UPDATE {t}_regions SET title = 'far' WHERE r = 2")  # of store 1 by its region
    far = table.keep()["cubes"][0]
    assert (far["n_units_gone"], far["n_files_read"]) == (1, 1)
    assert table.check().uncovered_files == 0


def test_units_that_cannot_be_read_go_when_a_joined_table_changed(
    iceberg_lake: IcebergLake,
) -> None:
    table = CubedTable.make(iceberg_lake).fill(2)
    table.keep()
    before = {one.number for one in table.coverage().units}
    # Compacted and changed before the next build: units of before are of the values of before.
    jvm: Any = table.lake.spark._jvm
    actions = jvm.org.apache.iceberg.spark.actions.SparkActions.get()
    actions.rewriteDataFiles(table.opened.java).option("rewrite-all", "true").execute()
    table.say("UPDATE {t}_stores SET city = 'moved' WHERE s = 2")
    (cube,) = table.keep()["cubes"]
    assert (cube["n_units_gone"], cube["n_units_merged"]) == (4, 0), cube
    assert table.check().uncovered_files == 0
    assert not before & {one.number for one in table.coverage().units}

    # A file that earlier snapshots still have counts for time travel: with the values of now.
    table.say("DELETE FROM {t} WHERE dt = '2026-05-01'")
    table.say("UPDATE {t}_regions SET title = 'far' WHERE r = 1")
    table.keep()
    assert all(one.is_live for one in table.coverage().units)
    assert table.check(seed=1).uncovered_files == 0


def test_what_would_be_wrong_is_refused_with_the_reason(iceberg_lake: IcebergLake) -> None:
    table = CubedTable.make(iceberg_lake)
    table.say("INSERT INTO {t} VALUES (1, '2026-05-01', 77, 1, 1.5, 'a')")
    lonely = table.keep()
    assert "1 of its rows have no partner" in lonely["reason"], lonely
    table.say("INSERT INTO {t} VALUES (2, '2026-05-02', 1, 1, 1.5, 'a')")
    table.keep()
    assert table.check().uncovered_files == 1
    table.say("INSERT INTO {t}_stores VALUES (1, 'twice', 1)")
    twice = table.keep()
    assert twice["code"] == "cube.duplicate_key", twice
    typed = table.definition(name="typed", joins=[], star_tree=None)
    typed["dimensions"] = [{"name": "x", "expression": "fact.qty", "type": "string"}]
    assert table.keep(typed)["code"] == "cube.column_type"
    gone = table.definition(name="gone", joins=[], star_tree=None)
    gone["dimensions"] = [{"name": "x", "expression": "fact.nothing", "type": "string"}]
    assert table.keep(gone)["code"] == "cube.column_gone"
    table.say("CREATE TABLE {t}__cube_taken (a INT) USING iceberg")
    taken = table.definition(name="taken", joins=[], star_tree=None)
    taken["dimensions"] = [{"name": "mode", "expression": "fact.mode", "type": "string"}]
    assert table.keep(taken)["code"] == "cube.name_taken"


def test_files_that_left_every_snapshot_leave_the_cube(iceberg_lake: IcebergLake) -> None:
    table = CubedTable.make(iceberg_lake).fill(2)
    other = table.definition(name="by_mode", joins=[], star_tree={"max_leaf": 1})
    other["dimensions"] = [{"name": "mode", "expression": "fact.mode", "type": "string"}]
    both = [table.definition(), other]
    assert table.keep(*both)["outcome"] == "DONE"
    table.say("DELETE FROM {t} WHERE dt = '2026-05-01'")
    java = table.opened.java
    later = int((datetime.now(UTC) + timedelta(days=1)).timestamp() * 1000)
    java.expireSnapshots().expireOlderThan(later).retainLast(1).commit()
    result = table.keep(*both)
    assert [one["n_units_gone"] for one in result["cubes"]] == [2, 2], result
    assert table.coverage().exact
    assert len(table.coverage().units) == 2
    assert table.check().uncovered_files == 0
