"""Indexes of real tables: every data file once, deleted rows too, and again only what is new."""

from typing import Any

import pytest

from tests.support.iceberg_indexes import folder_of, might_hold, names, newest
from tests.support.iceberg_lake import DAYS, IcebergLake, WrittenTable, small_files

ID, WORD = 1, 3


def rows_by_file(table: WrittenTable) -> dict[str, list[Any]]:
    """Return the rows of main by data file, as they are without deletes of later."""
    found: dict[str, list[Any]] = {}
    for row in table.lake.spark.table(table.sql).select("_file", "id", "word").collect():
        found.setdefault(row["_file"], []).append(row)
    return found


def index(table: WrittenTable, *columns: str, **more: Any) -> dict[str, Any]:
    task = table.lake.task(table, kind="INDEX", index_columns=list(columns), **more)
    (result,) = table.lake.optimize(task)
    return result


@pytest.mark.parametrize("form", ["parquet", "orc"])
@pytest.mark.parametrize("version", [1, 2, 3])
def test_every_data_file_is_indexed_with_its_deleted_rows(
    iceberg_lake: IcebergLake, version: int, form: str
) -> None:
    table = iceberg_lake.table(version=version, write__format__default=form)
    small_files(table, 3)
    before = rows_by_file(table)
    if version > 1:
        table.say("DELETE FROM {t} WHERE id IN (2, 11)")

    result = index(table, "id:bloom", "word:bloom")

    assert result["outcome"] == "DONE", result
    covered = newest(table).covered
    assert set(covered) == set(before) == {one["file_path"] for one in table.files()}
    for location, rows in before.items():
        file = covered[location].data_file
        assert file.records == len(rows) == sum(n for _, n in file.row_groups)
        assert file.row_groups[0][0] in (3, 4)
        for row in rows:
            assert might_hold(table, location, ID, row["id"])
            assert row["word"] is None or might_hold(table, location, WORD, row["word"])
    opened = [might_hold(table, location, ID, 12345) for location in before]
    assert not all(opened)
    assert len(names(table, "files")) == 1

    again = index(table, "id:bloom", "word:bloom")
    assert again["outcome"] == "NOTHING", again
    assert "Every data file has the indexes" in again["reason"]

    table.append([(900, DAYS[0], "late")])
    third = index(table, "id:bloom", "word:bloom")
    assert third["commits"][0]["n_indexed_files"] == 1
    assert len(newest(table).covered) == len(before) + 1
    assert table.unknown_files() - {str(path) for path in index_files(table)} == set()


def index_files(table: WrittenTable) -> list[Any]:
    return [path for path in folder_of(table).rglob("*") if path.is_file()]
