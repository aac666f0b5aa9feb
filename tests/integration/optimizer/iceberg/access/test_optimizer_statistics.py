"""Statistics of real tables: which columns, how many values, and when they still hold."""

from typing import Any

from tests.support.iceberg_lake import DAYS, IcebergLake, WrittenTable, small_files


def statistics(table: WrittenTable) -> dict[int, dict[str, int]]:
    """Give, by snapshot, the numbers of different values by column."""
    opened = table.opened
    schema: Any = opened.java.schema()
    return {
        int(file.snapshotId()): {
            str(schema.findColumnName(blob.fields().get(0))): int(blob.properties().get("ndv"))
            for blob in file.blobMetadata()
        }
        for file in opened.java.statisticsFiles()
    }


def test_values_of_columns_are_counted_once(iceberg_lake: IcebergLake) -> None:
    lake = iceberg_lake
    table = lake.table(version=3)
    table.say("ALTER TABLE {t} ADD COLUMNS (`of.nested` INT, raw BINARY, `x y` INT)")
    for day in DAYS:
        frame = lake.spark.range(3).selectExpr(
            f"id + {3 * DAYS.index(day)} AS id",
            f"'{day}' AS dt",
            "concat('w', id) AS word",
            "1 AS `of.nested`",
            "CAST(NULL AS BINARY) AS raw",
            "1 AS `x y`",
        )
        frame.coalesce(1).writeTo(table.sql).append()
    table.say("DELETE FROM {t} WHERE id = 2")
    task = lake.task(table, kind="STATISTICS", layout="sort(word)")

    (result,) = lake.optimize(task)

    assert result["outcome"] == "DONE", result
    counted = {"id": 5, "dt": 2, "word": 3, "x y": 1}
    assert statistics(table) == {table.opened.snapshot_id: counted}
    assert result["commits"][0]["columns"] == ["word", "dt", "id", "x y"]
    assert "Statistics of 4 columns: word, dt, id, x y." in result["reason"]
    assert "1 columns with . ` or * in their names" in result["reason"]
    assert result["before"]["n_statistics_columns"] == 0
    assert result["after"]["n_statistics_columns"] == 4

    (again,) = lake.optimize(task)
    assert again["outcome"] == "NOTHING"
    assert "nothing was written since" in again["reason"]

    first = table.opened.snapshot_id
    (rewritten,) = lake.optimize(lake.task(table, kind="FULL"))
    assert rewritten["outcome"] == "DONE"
    (kept,) = lake.optimize(task)
    assert "still hold" in kept["reason"], kept
    assert statistics(table) == {first: counted, table.opened.snapshot_id: counted}

    table.say("INSERT INTO {t} VALUES (90, '2026-05-01', 'new', 1, NULL, 2)")
    (new,) = lake.optimize(task)
    assert new["outcome"] == "DONE"
    assert statistics(table)[table.opened.snapshot_id]["id"] == 6


def test_a_table_without_rows_or_columns_worth_it_says_so(iceberg_lake: IcebergLake) -> None:
    lake = iceberg_lake
    empty = lake.table()
    (result,) = lake.optimize(lake.task(empty, kind="STATISTICS"))
    assert (result["outcome"], "no rows yet" in result["reason"]) == ("NOTHING", True)


def test_a_file_that_cannot_be_read_fails_with_its_reason(iceberg_lake: IcebergLake) -> None:
    lake = iceberg_lake
    table = small_files(lake.table(by=""), 1)
    (file,) = table.files()
    table.opened.java.io().deleteFile(file["file_path"])
    (result,) = lake.optimize(lake.task(table, kind="STATISTICS"))
    assert (result["outcome"], result["code"]) == ("FAILED", "iceberg.file_missing"), result
    assert statistics(table) == {}
