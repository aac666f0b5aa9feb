"""Manifests of real tables are merged: rows, row ids, delete files and branches stay."""

from itertools import pairwise

import pytest

from optimizer.iceberg.execution.jobs import optimize
from optimizer.iceberg.tables.domain.events import TASK_KEY
from tests.support.iceberg_lake import DAYS, IcebergLake, WrittenTable, small_files


def row_ids(table: WrittenTable) -> list[tuple[int, int, int]]:
    found = table.lake.spark.table(table.sql).select(
        "id", "_row_id", "_last_updated_sequence_number"
    )
    return sorted(tuple(row) for row in found.collect())


@pytest.mark.parametrize(
    "version", [2, *(pytest.param(version, marks=pytest.mark.long) for version in (1, 3))]
)
def test_many_manifests_become_few(iceberg_lake: IcebergLake, version: int) -> None:
    lake = iceberg_lake
    table = small_files(lake.table(version=version), 4)
    table.add_field("word")
    for n, day in enumerate(DAYS):
        table.append([(100 + 10 * n + k, day, "late") for k in range(3)])
    table.say("INSERT INTO {t} VALUES (200, NULL, NULL)")
    if version > 1:
        table.say("DELETE FROM {t} WHERE id = 100")
        table.say("DELETE FROM {t} WHERE id = 110")
    table.add_branch("aside")
    rows, files = table.rows(), sorted(map(repr, table.files("files")))
    lineage = row_ids(table) if version == 3 else []
    before = len(table.files("manifests"))

    (result,) = lake.optimize(lake.task(table, kind="MANIFESTS"))

    assert result["outcome"] == "DONE", result
    after = table.files("manifests")
    assert (result["before"]["n_manifests"], result["after"]["n_manifests"]) == (before, len(after))
    assert len(after) == (2 if version == 1 else 3)
    # Those of the old spec were merged by the writer, as soon as one of the new came.
    assert result["reason"] == f"{before - 1} manifests became {len(after) - 1}."
    assert table.rows() == rows
    assert sorted(map(repr, table.files("files"))) == files
    assert (row_ids(table) if version == 3 else []) == lineage
    assert table.rows(branch="aside") == rows
    snapshots = table.snapshots()
    ours = [one for one in snapshots if TASK_KEY in one["summary"]]
    assert [one["snapshot_id"] for one in ours] == [one["snapshot_id"] for one in result["commits"]]
    assert {one["operation"] for one in ours} == {"replace"}
    assert table.unknown_files() == set()
    (again,) = lake.optimize(lake.task(table, kind="MANIFESTS"))
    assert again["outcome"] == "NOTHING"
    assert "Nothing to merge" in again["reason"]


def test_neighbouring_partitions_lie_together(iceberg_lake: IcebergLake) -> None:
    lake = iceberg_lake
    table = lake.table(commit__manifest__target_size_bytes="100000000")
    for n in range(12):
        table.append([(n, f"2026-05-{day:02d}", None) for day in range(1 + n % 6, 13, 6)])
    n_bytes = sum(one["length"] for one in table.files("manifests"))
    target = n_bytes // 4 + 1
    table.say(f"ALTER TABLE {{t}} SET TBLPROPERTIES ('commit.manifest.target-size-bytes'={target})")

    (result,) = lake.optimize(lake.task(table, kind="MANIFESTS"))

    assert result["outcome"] == "DONE", result
    bounds = [
        (one["partition_summaries"][0]["lower_bound"], one["partition_summaries"][0]["upper_bound"])
        for one in table.files("manifests")
    ]
    assert 2 <= len(bounds) <= 4
    ordered = sorted(bounds)
    assert all(low[1] < high[0] for low, high in pairwise(ordered)), bounds


def test_what_others_write_meanwhile_stays(iceberg_lake: IcebergLake) -> None:
    lake = iceberg_lake
    table = small_files(lake.table(by=""), 3)

    def meanwhile() -> None:
        table.append([(500, DAYS[0], "meanwhile")])
        table.say("DELETE FROM {t} WHERE id = 3")

    job = lake.interrupted(lake.task(table, kind="MANIFESTS")).happen(2, meanwhile)
    (result,) = optimize.run(lake.spark, job)["results"]

    assert result["outcome"] == "DONE", result
    ids = [row["id"] for row in table.rows()]
    assert 500 in ids
    assert 3 not in ids
    assert len(ids) == 18
