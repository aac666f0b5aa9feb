"""Files are grouped so that every rewrite wins something, and none is larger than allowed."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.core.domain.tasks import TaskKind
from optimizer.iceberg.rewrite.jobs.bin_packing import BinPacking, Group, PlannedFile, n_out, pick

TARGET = 1000


def files(*sizes: int, **same: Any) -> list[PlannedFile]:
    return [PlannedFile(n, size, n_rows=size, **same) for n, size in enumerate(sizes)]


def picking(kind: TaskKind = TaskKind.MINOR, **changed: Any) -> BinPacking:
    return BinPacking(kind, TARGET, **{"max_group_bytes": 100 * TARGET, **changed})


def numbers(groups: list[Group]) -> list[list[int]]:
    return [[file.n for file in group.files] for group in groups]


@pytest.mark.parametrize(
    ("sizes", "picked"),
    [
        ((), []),
        ((10,), []),
        ((10, 20), [[0, 1]]),
        ((10, 20, 800, 2000), [[0, 1]]),
        # Three quarters of the target and more are good as they are.
        ((750, 749), []),
        # Two that do not fit into one win nothing.
        ((700, 700), []),
        ((700, 700, 700), [[0, 1, 2]]),
        # A file that outweighs all the others is not rewritten for them.
        ((700, 10, 10), [[1, 2]]),
        ((300, 200, 200), [[0, 1, 2]]),
    ],
)
def test_a_minor_rewrite_takes_small_files(sizes: tuple[int, ...], picked: list[list[int]]) -> None:
    assert numbers(pick(files(*sizes), picking())) == picked


def test_too_few_files_wait_unless_they_fill_one() -> None:
    assert pick(files(10, 20, 30), picking(min_files=4)) == []
    assert numbers(pick(files(500, 600), picking(min_files=4))) == [[0, 1]]


def test_a_major_rewrite_takes_files_with_many_deletes_too() -> None:
    few = PlannedFile(0, 900, n_rows=100, n_deletes=1, n_deleted_rows=9)
    many = PlannedFile(1, 900, n_rows=100, n_deletes=1, n_deleted_rows=10)
    assert numbers(pick([few, many], picking(TaskKind.MAJOR))) == [[1]]
    assert pick([few, many], picking(TaskKind.MINOR)) == []
    assert numbers(pick([few, many], picking(TaskKind.DELETES))) == [[1]]
    unknown = PlannedFile(2, 900, n_rows=0, n_deletes=1)
    assert numbers(pick([unknown], picking(TaskKind.MAJOR))) == [[2]]


def test_a_full_rewrite_splits_what_is_too_big_and_leaves_what_is_right() -> None:
    (group,) = pick(files(1000, 3000), picking(TaskKind.FULL))
    assert group.n_out == 4
    assert pick(files(1000), picking(TaskKind.FULL)) == []
    assert pick(files(1000, 1000), picking(TaskKind.FULL)) == []
    laid = BinPacking(TaskKind.FULL, TARGET, 100 * TARGET, has_layout=True)
    assert numbers(pick(files(1000), laid)) == [[0]]


def test_clustering_takes_only_what_is_not_laid_out() -> None:
    old = [PlannedFile(n, 1000, is_laid_out=True) for n in range(3)]
    new = [PlannedFile(3, 10)]
    assert numbers(pick([*old, *new], picking(TaskKind.CLUSTER))) == [[3]]
    assert pick(old, picking(TaskKind.CLUSTER)) == []


def test_the_oldest_files_lie_together() -> None:
    found = [PlannedFile(n, 100, sequence=9 - n) for n in range(6)]
    groups = pick(found, picking(max_group_bytes=300))
    assert numbers(groups) == [[5, 4, 3], [2, 1, 0]]


def test_fifty_thousand_files_in_one_partition_are_cut_by_their_number() -> None:
    groups = pick(files(*[1] * 50_000), picking())
    assert [len(group.files) for group in groups] == [10_000] * 5
    assert [group.n_out for group in groups] == [10] * 5


@pytest.mark.parametrize(
    ("total", "files_out"), [(1, 1), (1000, 1), (1100, 1), (1101, 2), (2200, 2), (2300, 3)]
)
def test_sizes_come_near_the_target(total: int, files_out: int) -> None:
    assert n_out(files(total), picking()) == files_out


@given(
    st.lists(st.integers(0, 5 * TARGET), max_size=60),
    st.sampled_from([TaskKind.MINOR, TaskKind.MAJOR, TaskKind.FULL, TaskKind.CLUSTER]),
    st.integers(TARGET, 20 * TARGET),
    st.integers(2, 20),
)
def test_whatever_the_files_a_group_wins_and_keeps_its_limits(
    sizes: list[int], kind: TaskKind, most_bytes: int, most_files: int
) -> None:
    asked = picking(kind, max_group_bytes=most_bytes, max_group_files=most_files)
    groups = pick(files(*sizes), asked)
    taken = [n for group in numbers(groups) for n in group]
    assert len(taken) == len(set(taken))
    for group in groups:
        assert len(group.files) <= most_files
        assert group.n_bytes <= most_bytes or len(group.files) == 1
        assert group.n_out >= 1
        assert group.n_bytes / group.n_out <= 1.1 * TARGET
        if kind is not TaskKind.CLUSTER and max(file.n_bytes for file in group.files) <= TARGET:
            assert group.n_out < len(group.files)
