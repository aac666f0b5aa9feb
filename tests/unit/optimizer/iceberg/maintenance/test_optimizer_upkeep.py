"""The rules of a table's upkeep: what is merged, of what statistics are made, and when not."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.core.domain.tasks import TaskKind
from optimizer.iceberg.inspect.domain.stats import TableStats
from optimizer.iceberg.maintenance.domain import delete_merging, manifest_merging
from optimizer.iceberg.maintenance.domain.delete_merging import Merging, PositionDeletes, merging
from optimizer.iceberg.maintenance.domain.manifest_merging import (
    Manifest,
    Merge,
    merges,
    neighbours,
)
from optimizer.iceberg.maintenance.domain.statistics_columns import MOST_COLUMNS, columns_worth_it
from optimizer.iceberg.planner.domain.deciding import decide
from optimizer.iceberg.planner.domain.maintenance import LastTimes
from optimizer.policies.domain.policy import Policy

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
MIB = 1 << 20


@pytest.mark.parametrize("kind", [TaskKind.MANIFESTS, TaskKind.STATISTICS])
def test_what_found_nothing_or_failed_is_not_tried_again_at_once(kind: TaskKind) -> None:
    table = TableStats(n_files=3, n_manifests=200)
    policy = Policy(is_on=True, kinds=frozenset({kind}))
    just, long_ago = NOW - timedelta(hours=3), NOW - timedelta(days=8)
    for last, expected, code in (
        (LastTimes(nothing={kind: just}), [], "tried"),
        (LastTimes(failed={kind: just}), [], "failed"),
        (LastTimes({kind: just}), [], "done"),
        (LastTimes({kind: long_ago}, nothing={kind: long_ago}), [kind], "upkeep"),
    ):
        found = decide([], table, policy=policy, last=last, now=NOW)
        assert [one.kind for one in found.proposals] == expected
        assert [one.code for one in found.decisions] == [code]


def manifests(*sizes: int, spec_id: int = 0, is_deletes: bool = False) -> list[Manifest]:
    return [Manifest(n, spec_id, is_deletes, size, 1) for n, size in enumerate(sizes)]


def test_small_manifests_are_merged_and_full_ones_stay() -> None:
    assert merges(manifests(*[MIB] * 20), target_bytes=8 * MIB) == [
        Merge(0, is_deletes=False, places=tuple(range(20)), n_out=3)
    ]
    assert merges(manifests(*[7 * MIB] * 20), target_bytes=8 * MIB) == []
    (mixed,) = merges(manifests(9 * MIB, MIB, MIB, 7 * MIB), target_bytes=8 * MIB)
    assert mixed.places == (1, 2)


def test_what_would_not_become_half_is_left_alone() -> None:
    assert merges(manifests(MIB), target_bytes=8 * MIB) == []
    assert merges(manifests(*[5 * MIB] * 3), target_bytes=8 * MIB) == []
    assert "20 manifests" in manifest_merging.no_work_reason(20, target_bytes=8 * MIB)


def test_specs_and_deletes_never_mix() -> None:
    some = [
        *manifests(MIB, MIB),
        *(replace(one, n=one.n + 2) for one in manifests(MIB, MIB, spec_id=1)),
        *(replace(one, n=one.n + 4) for one in manifests(MIB, MIB, is_deletes=True)),
        Manifest(6, 2, is_deletes=False, n_bytes=MIB, n_live=1),
    ]
    found = merges(some, target_bytes=8 * MIB)
    assert [(one.spec_id, one.is_deletes, one.places) for one in found] == [
        (0, False, (0, 1)),
        (0, True, (4, 5)),
        (1, False, (2, 3)),
    ]


def test_manifests_without_a_live_file_need_no_room() -> None:
    dead = [replace(one, n_live=0) for one in manifests(9 * MIB, 9 * MIB)]
    assert merges(dead, target_bytes=8 * MIB)[0].n_out == 0


@given(
    st.lists(st.tuples(st.integers(0, 9 * MIB), st.integers(0, 3)), max_size=40),
    st.integers(1, 8 * MIB),
)
def test_no_manifest_is_merged_twice_and_each_merge_halves_them(
    given_ones: list[tuple[int, int]], target: int
) -> None:
    some = [
        Manifest(n, 0, is_deletes=False, n_bytes=size, n_live=live)
        for n, (size, live) in enumerate(given_ones)
    ]
    found = merges(some, target_bytes=target)
    places = [n for one in found for n in one.places]
    assert len(places) == len(set(places))
    assert all(2 * one.n_out <= len(one.places) for one in found)


@given(
    st.dictionaries(st.text(max_size=5), st.integers(1, 50), min_size=1, max_size=30),
    st.integers(1, 6),
)
def test_neighbours_lie_together(n_files: dict[str, int], n_out: int) -> None:
    parts = neighbours(n_files, n_out)
    in_order = [parts[path] for path in sorted(n_files)]
    assert in_order == sorted(in_order), "each part is one stretch"
    assert set(in_order) <= set(range(n_out))
    most = max(n_files.values())
    for part in set(in_order):
        held = sum(n_files[path] for path in n_files if parts[path] == part)
        assert held <= sum(n_files.values()) / n_out + most


def test_statistics_are_made_of_layout_columns_first_and_of_few() -> None:
    types = {f"c{n}": "string" for n in range(50)} | {"raw": "binary", "yes": "boolean"}
    found = columns_worth_it(types | {"price": "decimal(10, 2)"}, first=("price", "raw"))
    assert found.names[:2] == ("price", "c0")
    assert len(found.names) == MOST_COLUMNS
    assert found.notes == (f"{51 - MOST_COLUMNS} more columns were left out.",)


def test_statistics_that_are_there_are_never_lost() -> None:
    types = {f"c{n}": "long" for n in range(40)} | {"flag": "boolean"}
    known = [*[*types][:35], "flag", "gone"]
    found = columns_worth_it(types, known=known)
    assert set(found.names) == set(known) - {"gone"}


@pytest.mark.parametrize("name", ["a.b", "a`b", "*", "c.*"])
def test_a_column_whose_name_means_something_else_is_not_read(name: str) -> None:
    found = columns_worth_it({name: "int", "good name; --": "int"}, first=(name,), known=(name,))
    assert found.names == ("good name; --",)
    assert found.notes == ("1 columns with . ` or * in their names cannot be read for it.",)


def test_delete_files_are_merged_where_fewer_are_left() -> None:
    many = PositionDeletes("dt=1", n_files=12, n_bytes=12_000, n_data_files=3)
    each = PositionDeletes("dt=2", n_files=12, n_bytes=12_000, n_data_files=12)
    none = PositionDeletes("dt=3", n_files=0, n_bytes=0, n_data_files=0)
    by_file = merging([many, each, none], format_version=2, granularity="file")
    assert by_file == Merging(frozenset({"dt=1"}), 12, 3)
    by_partition = merging([many, each, none], format_version=2, granularity="partition")
    assert by_partition == Merging(frozenset({"dt=1", "dt=2"}), 24, 2)


def test_files_of_deletes_become_vectors_and_vectors_stay() -> None:
    one = PositionDeletes("", n_files=1, n_bytes=1_000, n_data_files=1)
    assert merging([one], format_version=3, granularity="file") == Merging(frozenset({""}), 1, 0)
    assert merging([one], format_version=2, granularity="file").partitions == frozenset()
    assert delete_merging.no_work_reason(0, granularity="file") == ""
    assert "'partition'" in delete_merging.no_work_reason(3, granularity="file")
    assert "3 position" in delete_merging.no_work_reason(3, granularity="partition")
