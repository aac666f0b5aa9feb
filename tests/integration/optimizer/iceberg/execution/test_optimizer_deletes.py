"""Delete files of real tables get fewer, by equality or position, and no deleted row comes back."""

import pytest

from optimizer.iceberg.execution.jobs import optimize
from optimizer.iceberg.rewrite.jobs.planning import all_tasks
from optimizer.iceberg.tables.domain.events import TASK_KEY
from tests.support.iceberg_deletes import delete_equal, delete_positions
from tests.support.iceberg_lake import DAYS, IcebergLake, Row, WrittenTable, small_files

FIRST = f"dt={DAYS[0]}"


def rows_of(table: WrittenTable) -> list[Row]:
    return sorted((tuple(row)[:3] for row in table.rows()), key=repr)


def model_of(table: WrittenTable, *, without: set[str], day: str | None = None) -> list[Row]:
    """Return what is left of the rows when those with these words are deleted."""
    return [
        row
        for row in rows_of(table)
        if row[2] not in without or (day is not None and row[1] != day)
    ]


@pytest.mark.parametrize("version", [2, 3])
def test_rows_deleted_by_equality_are_gone_and_others_stay(
    iceberg_lake: IcebergLake, version: int
) -> None:
    lake = iceberg_lake
    table = small_files(lake.table(version=version), 3)
    expected = model_of(table, without={"w0.2", "w1.4"}, day=DAYS[0])
    delete_equal(table, words=["w0.2", "w1.4", "never"], path=FIRST)
    # The same word again, written later: that row is not deleted.
    table.append([(900, DAYS[0], "w0.2")])
    expected = sorted([*expected, (900, DAYS[0], "w0.2")], key=repr)
    assert rows_of(table) == expected
    before = rows_of(table)

    (result,) = lake.optimize(lake.task(table, kind="DELETES"))

    assert result["outcome"] == "DONE", result
    assert rows_of(table) == before == expected
    assert table.files("delete_files") == []
    assert (result["before"]["n_delete_files"], result["after"]["n_delete_files"]) == (1, 0)
    assert "without deletes" in result["reason"]
    assert {one["operation"] for one in table.snapshots() if TASK_KEY in one["summary"]} == {
        "replace"
    }
    assert table.unknown_files() == set()


def test_an_equality_delete_of_all_partitions_survives_a_new_spec(
    iceberg_lake: IcebergLake,
) -> None:
    lake = iceberg_lake
    table = small_files(lake.table(by=""), 1)
    table.add_field("dt")
    small_files(table, 2)
    expected = model_of(table, without={"w0.1", "w1.5"})
    delete_equal(table, words=["w0.1", "w1.5"])
    assert rows_of(table) == expected

    # Only one partition is asked for: what others need stays.
    (part,) = lake.optimize(lake.task(table, kind="DELETES", partitions=[FIRST]))
    assert part["outcome"] == "DONE", part
    assert rows_of(table) == expected
    assert len(table.files("delete_files")) == 1

    (rest,) = lake.optimize(lake.task(table, kind="DELETES"))
    assert rest["outcome"] == "DONE", rest
    assert rows_of(table) == expected
    assert table.files("delete_files") == []


def test_an_equality_delete_that_comes_meanwhile_holds_for_the_new_files(
    iceberg_lake: IcebergLake,
) -> None:
    lake = iceberg_lake
    table = small_files(lake.table(), 2)
    delete_equal(table, words=["w0.2"], path=FIRST)
    expected = model_of(table, without={"w1.4"}, day=DAYS[0])
    job = lake.interrupted(lake.task(table, kind="DELETES"))
    job.happen(3, lambda: delete_equal(table, words=["w1.4"], path=FIRST))
    (result,) = optimize.run(lake.spark, job)["results"]
    assert result["outcome"] == "DONE", result
    assert rows_of(table) == expected


def test_position_deletes_are_merged_and_dead_ones_dropped(iceberg_lake: IcebergLake) -> None:
    lake = iceberg_lake
    table = lake.table(write__delete__granularity="partition")
    for n in range(2):
        table.append([(200 * n + k, DAYS[k % 2], f"w{n}.{k}") for k in range(200)])
    for position in (0, 3, 5):
        delete_positions(table, path=FIRST, positions=[position])
    table.add_branch("aside")
    rows = table.rows()
    assert len(rows) == 400 - 2 * 3
    data = {one["file_path"] for one in table.files()}

    (result,) = lake.optimize(lake.task(table, kind="DELETES"))

    assert result["outcome"] == "DONE", result
    assert table.rows() == rows == table.rows(branch="aside")
    assert {one["file_path"] for one in table.files()} == data, "no data file is rewritten"
    assert (result["before"]["n_delete_files"], result["after"]["n_delete_files"]) == (3, 1)
    assert "3 position-delete files became 1." in result["reason"]
    assert TASK_KEY in table.summary()
    (again,) = lake.optimize(lake.task(table, kind="DELETES"))
    assert (again["outcome"], "no more than it needs" in again["reason"]) == ("NOTHING", True)

    # While older data is left in another partition Iceberg keeps it by itself.
    (whole,) = lake.optimize(lake.task(table, kind="FULL", partitions=[FIRST]))
    assert whole["outcome"] == "DONE"
    assert len(table.files("delete_files")) == 1, "of a partition: it stays with a rewrite"
    (dead,) = lake.optimize(lake.task(table, kind="DELETES"))
    assert "1 delete files that applied to no file were dropped." in dead["reason"], dead
    assert (table.files("delete_files"), table.rows()) == ([], rows)


def test_one_delete_file_for_each_data_file_is_left_alone_with_a_reason(
    iceberg_lake: IcebergLake,
) -> None:
    lake = iceberg_lake
    table = lake.table()
    for n in range(2):
        table.append([(100 * n + k, DAYS[k % 2], None) for k in range(100)])
    table.say("DELETE FROM {t} WHERE id IN (2, 3, 102, 103)")
    assert len(table.files("delete_files")) == 4
    (result,) = lake.optimize(lake.task(table, kind="DELETES"))
    assert result["outcome"] == "NOTHING", result
    assert "write.delete.granularity" in result["reason"]


def test_position_deletes_of_a_table_of_before_become_vectors(iceberg_lake: IcebergLake) -> None:
    lake = iceberg_lake
    table = lake.table()
    for n in range(2):
        table.append([(100 * n + k, DAYS[k % 2], None) for k in range(100)])
    delete_positions(table, path=FIRST, positions=[1, 7])
    table.say("ALTER TABLE {t} SET TBLPROPERTIES ('format-version' = '3')")
    table.say("DELETE FROM {t} WHERE id = 3")
    rows = table.rows()

    (result,) = lake.optimize(lake.task(table, kind="DELETES"))

    assert result["outcome"] == "DONE", result
    assert table.rows() == rows
    assert {one["file_format"] for one in table.files("delete_files")} == {"PUFFIN"}
    (again,) = lake.optimize(lake.task(table, kind="DELETES"))
    assert again["outcome"] == "NOTHING"
    assert "deletion vectors stay" in again["reason"]


def test_only_partitions_that_win_are_touched(iceberg_lake: IcebergLake) -> None:
    lake = iceberg_lake
    table = lake.table(by="dt, bucket(2, id), truncate(1, word)")
    for n in range(2):
        table.append([(1, day, f"a{n}{k}") for day in DAYS for k in range(100)])
    table.say("INSERT INTO {t} VALUES (1, NULL, NULL), (1, NULL, 'b')")
    first, second = sorted({path_of(table, day) for day in DAYS})
    for position in (1, 2, 3):
        delete_positions(table, path=first, positions=[position])
    of_first = {one["file_path"] for one in table.files("delete_files")}
    delete_positions(table, path=second, positions=[1, 2, 3])
    untouched = {one["file_path"] for one in table.files("delete_files")} - of_first
    rows = table.rows()

    (result,) = lake.optimize(lake.task(table, kind="DELETES", partitions=[first, second]))

    assert result["outcome"] == "DONE", result
    assert table.rows() == rows
    after = {one["file_path"] for one in table.files("delete_files")}
    assert untouched <= after
    assert len(after) == 3, "one for each data file of the one, and the other's own"


def path_of(table: WrittenTable, day: str) -> str:
    """Return the path of the partition of a day's rows."""
    paths = {str(one.spec().partitionToPath(one.partition())) for one in all_tasks(table.opened)}
    (path,) = (one for one in paths if one.startswith(f"dt={day}/"))
    return path
