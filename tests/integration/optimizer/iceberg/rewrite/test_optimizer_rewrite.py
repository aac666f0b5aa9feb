"""Rewrites of real Iceberg tables: rows stay, files become few, other writers always win."""

import pytest

from optimizer.iceberg.access.jobs.write_ids import write_ids_of
from optimizer.iceberg.rewrite.jobs.planning import all_tasks
from tests.support.iceberg_lake import IcebergLake, small_files


@pytest.mark.parametrize(("version", "by"), [(1, "dt"), (2, "dt")])
def test_small_files_become_one_a_partition(
    iceberg_lake: IcebergLake, version: int, by: str
) -> None:
    lake = iceberg_lake
    table = small_files(lake.table(version=version, by=by), 3)
    rows, before = table.rows(), table.files()

    (result,) = lake.optimize(lake.task(table))

    assert result["outcome"] == "DONE", result
    assert table.rows() == rows
    after = table.files()
    assert len(after) == (2 if by else 1)
    assert result["before"]["n_files"] == len(before)
    assert result["after"]["n_files"] == len(after)
    (commit,) = result["commits"]
    assert (commit["n_removed"], commit["n_added"]) == (len(before), len(after))
    assert result["rows"] == len(rows)
    assert table.unknown_files() == set()
    summary = table.summary()
    assert summary["lakewarden.task-id"] == "1"
    assert {"lakewarden.run", "lakewarden.layout"} <= summary.keys()
    assert table.snapshots()[-1]["operation"] == "replace"
    assert table.snapshots()[-1]["snapshot_id"] == commit["snapshot_id"]
    for file in after:
        assert write_ids_of(file["file_path"]) <= set(commit["write_ids"])
    assert table.rows(snapshot_id=table.snapshots()[-2]["snapshot_id"]) == rows
    (again,) = lake.optimize(lake.task(table))
    assert again["outcome"] == "NOTHING"


def test_two_partitions_of_one_name_are_rewritten_together(iceberg_lake: IcebergLake) -> None:
    lake = iceberg_lake
    table = lake.table()
    for _ in range(3):
        # Iceberg writes both as `dt=null`.
        table.say("INSERT INTO {t} VALUES (1, NULL, 'a'), (1, 'null', 'b')")
    rows = table.rows()
    assert len({str(file["partition"]) for file in table.files()}) == 2

    (result,) = lake.optimize(lake.task(table))

    assert result["outcome"] == "DONE", result
    assert table.rows() == rows
    assert len(table.files()) == 2
    assert table.unknown_files() == set()


def test_files_of_a_spec_whose_column_was_dropped_go_into_the_spec_of_now(
    iceberg_lake: IcebergLake,
) -> None:
    lake = iceberg_lake
    table = small_files(lake.table(by="dt, word"), 2)
    table.opened.java.updateSpec().removeField("word").commit()
    table.say("ALTER TABLE {t} DROP COLUMN word")
    table.say("INSERT INTO {t} VALUES (900, '2026-05-01')")
    rows = table.rows()

    (result,) = lake.optimize(lake.task(table, kind="FULL"))

    assert result["outcome"] == "DONE", result
    assert table.rows() == rows
    # By the plan: Iceberg's table of files cannot be read after such a drop.
    planned = all_tasks(table.opened)
    assert {int(one.spec().specId()) for one in planned} == {table.opened.spec_id}


def test_deleted_rows_are_left_out_and_their_vectors_go(iceberg_lake: IcebergLake) -> None:
    lake = iceberg_lake
    table = small_files(lake.table(version=3), 2)
    table.say("DELETE FROM {t} WHERE id IN (2, 13)")
    rows = table.rows()
    assert len(table.files("delete_files")) == 2

    (result,) = lake.optimize(lake.task(table, kind="MAJOR"))

    assert result["outcome"] == "DONE", result
    assert (table.rows(), table.files("delete_files")) == (rows, [])
    assert result["after"]["n_delete_files"] == 0
    assert result["commits"][0]["n_deletes_removed"] == 2
    assert table.unknown_files() == set()
