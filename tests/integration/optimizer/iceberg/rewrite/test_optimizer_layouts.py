"""Layouts of real Iceberg tables.

The same rows, in order, and only what is new is ordered again.
"""

from itertools import pairwise
from typing import Any

from optimizer.iceberg.rewrite.domain.boundaries import Boundaries
from optimizer.iceberg.rewrite.domain.layouts import parse_layout
from optimizer.iceberg.rewrite.jobs.row_ordering import Arrangement, arrangement_of
from tests.support.iceberg_lake import DAYS, IcebergLake, WrittenTable, small_files

LAYOUT = "hilbert(id,word)"
LATE = ("2026-05-01", "late")
_SMALL_TARGET = 1 << 10


def written(result: dict[str, Any]) -> list[str]:
    return [one for commit in result["commits"] for one in commit["write_ids"]]


def spans(table: WrittenTable, day: str) -> list[tuple[int, int]]:
    """Return the smallest and the largest id of each file of a day, by what is in the files."""
    files = table.lake.spark.table(f"{table.sql}.data_files").where(f"partition.dt = '{day}'")
    found = files.selectExpr(
        "readable_metrics.id.lower_bound AS low", "readable_metrics.id.upper_bound AS high"
    )
    return sorted((row["low"], row["high"]) for row in found.collect())


def test_only_what_is_new_is_put_in_order_by_the_boundaries_of_before(
    iceberg_lake: IcebergLake,
) -> None:
    lake = iceberg_lake
    table = small_files(lake.table(), 4)
    rows = table.rows()

    (first,) = lake.optimize(lake.task(table, kind="CLUSTER", layout=LAYOUT))

    assert first["outcome"] == "DONE", first
    assert table.rows() == rows
    assert table.summary()["lakewarden.layout"] == LAYOUT
    assert Boundaries.from_dict(first["boundaries"]).as_dict() == first["boundaries"]
    laid_out = {file["file_path"] for file in table.files()}

    (nothing,) = lake.optimize(
        lake.task(table, kind="CLUSTER", layout=LAYOUT, write_ids=written(first))
    )
    assert nothing["outcome"] == "NOTHING", nothing

    table.append([(99, *LATE)])
    (second,) = lake.optimize(
        lake.task(
            table,
            kind="CLUSTER",
            layout=LAYOUT,
            write_ids=written(first),
            boundaries=first["boundaries"],
        )
    )
    assert second["outcome"] == "DONE", second
    assert second["boundaries"] == first["boundaries"]
    assert second["commits"][0]["n_removed"] == 1
    assert laid_out < {file["file_path"] for file in table.files()}
    assert {tuple(row) for row in table.rows()} == {*map(tuple, rows), (99, *LATE)}
    assert table.unknown_files() == set()


def test_files_of_a_sort_do_not_overlap(iceberg_lake: IcebergLake) -> None:
    lake = iceberg_lake
    table = small_files(lake.table(version=3), 6)
    table.say("DELETE FROM {t} WHERE id = 20")
    rows = table.rows()

    (result,) = lake.optimize(
        lake.task(table, kind="FULL", layout="sort(id)", target_bytes=_SMALL_TARGET)
    )

    assert result["outcome"] == "DONE", result
    assert table.rows() == rows
    for day in ("2026-05-01", "2026-05-02"):
        found = spans(table, day)
        assert len(found) > 1
        assert all(high < low for (_, high), (low, _) in pairwise(found))


def test_a_small_target_gives_as_many_files_as_it_says(iceberg_lake: IcebergLake) -> None:
    lake = iceberg_lake
    table = lake.table()
    many = lake.spark.range(80_000).selectExpr("id", f"'{DAYS[0]}' AS dt", "'w' || id % 50 AS word")
    many.repartition(2).writeTo(table.sql).append()
    target = sum(file["file_size_in_bytes"] for file in table.files()) // 4

    (result,) = lake.optimize(lake.task(table, kind="CLUSTER", layout=LAYOUT, target_bytes=target))

    assert result["outcome"] == "DONE", result
    rows = [file["record_count"] for file in table.files()]
    assert len(rows) == 4
    assert max(rows) < 1.1 * min(rows)


def test_a_group_of_the_whole_table_is_cut_by_the_sample_of_its_boundaries(
    iceberg_lake: IcebergLake,
) -> None:
    table = small_files(iceberg_lake.table(), 4)
    rows, context = iceberg_lake.spark.table(table.sql), iceberg_lake.spark.sparkContext
    layout = parse_layout(LAYOUT)
    first = arrangement_of(table.opened, layout, stored=None, target_bytes=_SMALL_TARGET)
    later = arrangement_of(table.opened, layout, stored=first.boundaries.as_dict())
    assert later.boundaries == first.boundaries

    def n_jobs(arrange: Arrangement, n_rows: int) -> int:
        group = f"layouts {id(arrange)} {n_rows}"
        context.setJobGroup(group, "")
        found = arrange(rows, 3, n_rows)
        n_begun = len(context.statusTracker().getJobIdsForGroup(group))
        context.setJobGroup("others", "")
        assert sorted(found.collect(), key=repr) == table.rows()
        return n_begun

    whole, part, by_old = n_jobs(first, 24), n_jobs(first, 12), n_jobs(later, 24)
    assert whole < part == by_old


def test_a_column_without_an_order_is_refused_by_name(iceberg_lake: IcebergLake) -> None:
    lake = iceberg_lake
    table = small_files(lake.table(), 2)
    table.say("ALTER TABLE {t} ADD COLUMN tags MAP<STRING, STRING>")
    files = table.files()
    for layout, code in (("hilbert(id,tags)", "layout.type"), ("hilbert(id,no)", "layout.missing")):
        (result,) = lake.optimize(lake.task(table, kind="CLUSTER", layout=layout))
        assert (result["outcome"], result["code"]) == ("FAILED", code)
    (result,) = lake.optimize(lake.task(table, kind="CLUSTER"))
    assert result["code"] == "optimize.layout"
    assert table.files() == files
    assert (
        arrangement_of(table.opened, parse_layout("sort(id)"), stored=None).boundaries.columns == ()
    )
