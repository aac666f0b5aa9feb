"""Tests a table's health: bounds, monotony, exact sums, order, and texts of deductions."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.core.domain.health import WHOLE, Health
from optimizer.iceberg.inspect.domain.health import LoginTally, partition_health
from optimizer.iceberg.inspect.domain.health_words import Part
from optimizer.iceberg.inspect.domain.stats import (
    SMALL_BELOW,
    PartitionStats,
    TableStats,
    partition_stats,
)

MIB = 1024**2
TARGET = 512 * MIB
SMALL = int(SMALL_BELOW * TARGET) - 1
# Deductions are kept in whole millionths, so their sum may be off by some.
ROUNDED = 0.00001

sizes = st.lists(st.integers(0, 3 * TARGET), max_size=12)
counts = st.integers(0, 10**7)


@st.composite
def partitions(draw: st.DrawFn) -> PartitionStats:
    stats = partition_stats("", draw(sizes), target_bytes=TARGET, n_rows=draw(counts))
    n_pos = draw(st.integers(0, 100))
    laid_out = draw(st.integers(0, stats.n_files))
    return replace(
        stats,
        n_pos_delete_files=n_pos,
        n_dvs=draw(st.integers(0, n_pos)),
        n_pos_deleted_rows=draw(counts),
        n_eq_delete_files=draw(st.integers(0, 100)),
        n_eq_deleted_rows=draw(counts),
        n_laid_out=laid_out,
        laid_out_bytes=stats.n_bytes * laid_out // max(stats.n_files, 1),
    )


tables = st.builds(TableStats, n_manifests=counts, n_snapshots=counts)
several = st.lists(partitions(), max_size=4)


def judged(found: list[PartitionStats], table: TableStats, *, layout: bool = False) -> Health:
    tally = LoginTally(TARGET, wants_layout=layout)
    for stats in found:
        tally.add(stats)
    return tally.health(table)


def alone(stats: PartitionStats, *, layout: bool = False) -> Health:
    return partition_health(stats, target_bytes=TARGET, wants_layout=layout)


def of_sizes(*found: int) -> PartitionStats:
    return partition_stats("", found, target_bytes=TARGET, n_rows=1000)


@given(several, tables, st.booleans())
def test_a_score_is_between_0_and_100_and_its_deductions_say_all_that_is_missing(
    found: list[PartitionStats], table: TableStats, layout: bool
) -> None:
    for health in (judged(found, table, layout=layout), *(alone(one) for one in found)):
        assert 0 <= health.score <= 100
        assert sum(one.millionths for one in health.deductions) == WHOLE - health.millionths
        assert all(one.millionths > 0 and one.reason for one in health.deductions)
        assert len({one.part for one in health.deductions}) == len(health.deductions)


@given(several, tables, st.booleans(), st.randoms(use_true_random=False))
def test_the_order_of_partitions_does_not_matter(
    found: list[PartitionStats], table: TableStats, layout: bool, chance: object
) -> None:
    shuffled = list(found)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis types it as an object
    assert judged(shuffled, table, layout=layout) == judged(found, table, layout=layout)


@given(sizes, st.integers(2, 50))
def test_the_same_bytes_in_more_small_files_never_raise_it(found: list[int], n: int) -> None:
    small = [size for size in found if size <= SMALL]
    before = of_sizes(*found)
    for size in small[:3]:
        rest = list(found)
        rest.remove(size)
        pieces = [size // n] * (n - 1) + [size - size // n * (n - 1)]
        assert alone(of_sizes(*rest, *pieces)).score <= alone(before).score


@given(sizes, st.integers(0, SMALL))
def test_one_more_small_file_never_raises_it(found: list[int], size: int) -> None:
    before = of_sizes(*found)
    if before.n_small:
        size = min(size, before.small_bytes // before.n_small)
    assert alone(of_sizes(*found, size)).score <= alone(before).score


@given(several, tables, st.integers(0, 3), st.integers(1, 1000))
def test_a_table_whose_partition_has_more_small_files_is_never_healthier(
    found: list[PartitionStats], table: TableStats, place: int, more: int
) -> None:
    worse = list(found)
    if worse:
        one = worse[place % len(worse)]
        n = one.n_small + more if one.n_small else 0
        worse[place % len(worse)] = replace(one, n_files=one.n_files + n - one.n_small, n_small=n)
    assert judged(worse, table).score <= judged(found, table).score + ROUNDED


@given(partitions(), st.integers(1, 1000))
def test_more_deletes_never_raise_it(stats: PartitionStats, more: int) -> None:
    before = alone(stats).score
    for name in ("n_eq_delete_files", "n_eq_deleted_rows", "n_pos_delete_files"):
        assert alone(replace(stats, **{name: getattr(stats, name) + more})).score <= before
    rows = stats.n_pos_deleted_rows + more
    assert alone(replace(stats, n_pos_deleted_rows=rows)).score <= before


@given(partitions(), tables, st.integers(1, 10**6))
def test_more_metadata_never_raises_it(stats: PartitionStats, table: TableStats, n: int) -> None:
    before = judged([stats], table).score
    assert judged([stats], replace(table, n_manifests=table.n_manifests + n)).score <= before
    assert judged([stats], replace(table, n_snapshots=table.n_snapshots + n)).score <= before


@given(partitions())
def test_asking_for_a_layout_never_raises_it(stats: PartitionStats) -> None:
    assert alone(stats, layout=True).score <= alone(stats).score


def test_an_empty_table_is_healthy_and_says_so() -> None:
    health = judged([], TableStats(n_snapshots=10_000), layout=True)
    assert health.score == 100
    assert health.as_list() == [
        {
            "part": "",
            "points": 0.0,
            "reason": "The table has no files: there is nothing to improve.",
        }
    ]


def test_files_of_the_target_size_cost_nothing() -> None:
    assert alone(of_sizes(*[TARGET] * 100)) == Health()
    assert alone(of_sizes(10)) == Health()  # one small file cannot be packed with anything


def test_small_files_cost_by_what_packing_them_would_win() -> None:
    few, many = of_sizes(*[MIB] * 2), of_sizes(*[MIB] * 1000)
    hidden = of_sizes(*[MIB] * 50, *[TARGET] * 10_000)
    assert alone(few).score > 92
    assert 30 < alone(many).score < 31
    assert alone(hidden).score > 99
    [lost] = alone(many).deductions
    assert lost.part is Part.SMALL
    assert lost.reason == (
        "1,000 of 1,000 files are below 75% of the target 512 MiB; packed they would be about 2."
    )


def test_small_files_of_different_partitions_are_not_said_to_fit_into_one() -> None:
    [lost] = judged([of_sizes(*[MIB] * 20) for _ in range(5)], TableStats()).deductions
    assert lost.reason.startswith("100 of 100 files are below")
    assert lost.reason.endswith("packed they would be about 5.")


def test_partitions_weigh_by_their_bytes() -> None:
    big, small = of_sizes(*[TARGET] * 99), of_sizes(*[SMALL // 100] * 100)
    score = judged([big, small], TableStats()).score
    share = small.n_bytes / (big.n_bytes + small.n_bytes)
    assert score == pytest.approx(100 - share * (100 - alone(small).score), abs=1e-4)


@pytest.mark.parametrize(
    ("stats", "part", "points"),
    [
        ({"n_eq_delete_files": 1, "n_eq_deleted_rows": 100}, Part.EQUALITY, 60),
        ({"n_eq_delete_files": 12}, Part.EQUALITY, 60),
        ({"n_pos_delete_files": 2}, Part.POSITION, 40),
        ({"n_pos_delete_files": 1, "n_dvs": 1, "n_pos_deleted_rows": 100}, Part.POSITION, 20),
        ({"n_pos_delete_files": 5, "n_dvs": 5, "n_pos_deleted_rows": 0}, Part.POSITION, 0),
    ],
)
def test_deletes_cost_by_rows_and_files(stats: dict[str, Any], part: Part, points: float) -> None:
    health = alone(replace(of_sizes(TARGET), **stats))
    assert {one.part: pytest.approx(one.points) for one in health.deductions} == (
        {part: pytest.approx(points)} if points else {}
    )


def test_files_not_laid_out_cost_by_bytes_only_where_a_layout_is_asked() -> None:
    stats = replace(of_sizes(TARGET, TARGET), n_laid_out=1, laid_out_bytes=TARGET)
    assert alone(stats) == Health()
    [lost] = alone(stats, layout=True).deductions
    assert (lost.part, lost.points) == (Part.LAYOUT, 20)
    assert lost.reason == ("1 of 2 files (512 MiB of 1 GiB) are not sorted as configured.")


def test_files_far_above_the_target_are_named() -> None:
    [lost] = alone(of_sizes(2 * TARGET, TARGET)).deductions
    assert lost.part is Part.SKEW
    assert "1 of 2 files are above 180% of the target 512 MiB" in lost.reason


def test_metadata_costs_when_there_is_too_much_of_it_for_the_size() -> None:
    table = TableStats(n_manifests=2_000, n_snapshots=1_000)
    found = judged([of_sizes(TARGET)], table).deductions
    assert [one.part for one in found] == [Part.MANIFESTS, Part.SNAPSHOTS]
    assert found[0].points == pytest.approx(15, abs=0.1)
    assert found[1].points == pytest.approx(85 * 0.1 * 0.5, abs=0.1)
    assert judged([of_sizes(*[TARGET] * 100_000)], table).deductions[0].part is Part.SNAPSHOTS


def test_a_partition_with_deletes_only_is_judged_by_them() -> None:
    stats = PartitionStats("dt=1", n_eq_delete_files=6, n_eq_deleted_rows=0)
    [lost] = alone(stats, layout=True).deductions
    assert (lost.part, lost.points) == (Part.EQUALITY, 30)


def test_a_tally_gives_each_partition_its_own_health() -> None:
    tally = LoginTally(TARGET, wants_layout=False)
    assert tally.add(of_sizes(TARGET)).score == 100
    assert tally.add(of_sizes(*[1] * 100)).score < 40
    assert tally.total.n_files == 101
    assert tally.n_partitions == 2
