"""Tests the simulation of Amoro's rules: it decides as Amoro's own tests expect of Amoro.

The cases are those of its TestOptimizingEvaluator, TestOptimizingPlanner, TestIcebergPartitionPlan
(fragment files, one fragment file, segment files, with delete files) and
TestMetadataBasedEvaluationEvent. Its tests write real files of a few records; here stand sizes in
the same relation to the target as those have.
"""

from dataclasses import replace

import pytest

from bench.amoro_rules import (
    MB,
    AmoroConfig,
    AmoroDelete,
    AmoroFile,
    AmoroPartition,
    AmoroTotals,
    AmoroType,
    LastOptimized,
    health,
    is_worth_evaluating,
)

NOW = 1_800_000_000.0
DEFAULT = AmoroConfig()
TINY = AmoroFile(2_000, 4)  # a file of four records beside a target of 128 MB
FULL = replace(DEFAULT, full_interval=3.6)  # as its tests open it: 3600 ms after "never"


def partition(*files: AmoroFile, config: AmoroConfig = DEFAULT) -> AmoroPartition:
    return AmoroPartition(files, config, LastOptimized(), NOW)


def delete(name: str, n_rows: int = 1) -> AmoroDelete:
    return AmoroDelete(name, n_rows, 500)


def test_its_defaults() -> None:
    assert (DEFAULT.target, DEFAULT.fragment, DEFAULT.min_target) == (128 * MB, 16 * MB, 96 * MB)
    assert not DEFAULT.uses_metadata
    assert replace(DEFAULT, fallback_interval=1e18).uses_metadata


def test_empty() -> None:
    assert not partition().is_necessary()
    assert partition().plan() == []


def test_fragment_files() -> None:
    assert not partition(TINY).is_necessary()
    assert partition(TINY).plan() == []
    both = partition(TINY, TINY)
    assert both.is_necessary()
    assert both.type() is AmoroType.MINOR
    (task,) = both.plan()
    assert task.rewritten == (TINY, TINY)
    full = partition(TINY, TINY, config=FULL)
    assert full.type() is AmoroType.FULL
    assert [one.rewritten for one in full.plan()] == [(TINY, TINY)]


def test_segment_files() -> None:
    # Its test sets the fragment ratio so that two files of 40 records are just no fragments.
    config = replace(DEFAULT, fragment_ratio=DEFAULT.target // 4_000 + 1)
    one, two = AmoroFile(4_000, 40), AmoroFile(4_010, 40)
    assert partition(one, two, config=config).plan() == []
    with_deletes = [
        AmoroFile(4_000, 40, (delete("a"),)),
        AmoroFile(4_010, 40, (delete("b"),)),
    ]
    assert partition(*with_deletes, config=config).plan() == []
    full = replace(config, full_interval=3.6)
    (task,) = partition(*with_deletes, config=full).plan()
    assert task.rewritten == tuple(with_deletes)
    assert task.deletes_only == ()


def test_with_delete_files() -> None:
    # Target and ratio as its test sets them: A and B are large enough, C and D fragments.
    a = AmoroFile(20_000, 1000, (delete("a1"), delete("a2")))
    b = AmoroFile(20_100, 1000, (delete("b", 102),))
    c, d = AmoroFile(2_000, 4, (delete("c"),)), AmoroFile(2_000, 4, (delete("d"),))
    config = replace(DEFAULT, target=20_101, fragment_ratio=20_101 // 20_000 + 1)
    assert min(a.n_bytes, b.n_bytes) > config.fragment >= c.n_bytes
    (task,) = partition(a, b, c, d, config=config).plan()
    assert set(task.rewritten) == {b, c, d}
    assert task.deletes_only == (a,)
    full = replace(config, full_interval=3.6)
    (task,) = partition(a, b, c, d, config=full).plan()
    assert set(task.rewritten) == {a, b, c, d}
    assert task.deletes_only == ()


def test_metadata_trigger_of_tables() -> None:
    config = replace(DEFAULT, fallback_interval=1e18)

    def worth(totals: AmoroTotals, config: AmoroConfig) -> bool:
        return is_worth_evaluating(totals, config, last=0.0, now=NOW)

    two = AmoroTotals(2, 2 * 700)
    assert not worth(AmoroTotals(0, 0), config)
    assert worth(two, config)
    assert not worth(two, replace(config, target=100))
    assert worth(two, replace(config, target=100, fallback_interval=0.0))


def test_metadata_trigger_of_partitions() -> None:
    config = replace(DEFAULT, fallback_interval=1e18)
    two = (AmoroFile(700, 1), AmoroFile(700, 1))
    assert partition(*two, config=config).is_necessary()
    tolerant = replace(config, mse_tolerance=120_000_000)
    assert not partition(*two, config=tolerant).is_necessary()
    more = (*two, AmoroFile(700, 1, (AmoroDelete("e", 1, 400, is_equality=True),)))
    assert not partition(*more, config=tolerant).is_necessary()
    assert partition(*more, config=replace(config, mse_tolerance=100_000_000)).is_necessary()


@pytest.mark.parametrize(
    ("sizes", "type_"),
    [
        ([MB] * 12, AmoroType.MINOR),
        ([60 * MB] * 3, AmoroType.MAJOR),
        ([60 * MB] * 2, None),
        ([97 * MB] * 50, None),
        ([90 * MB] * 3, None),
    ],
)
def test_its_documented_thresholds(sizes: list[int], type_: AmoroType | None) -> None:
    found = AmoroPartition(
        [AmoroFile(size, 100) for size in sizes], DEFAULT, LastOptimized(minor=NOW - 60), NOW
    )
    assert (found.type() if found.is_necessary() else None) is type_


def test_its_health_score() -> None:
    assert health([[AmoroFile(128 * MB, 100)] * 20], DEFAULT) == 100
    assert health([[AmoroFile(MB, 100)]], DEFAULT) == 100
    assert health([[AmoroFile(8 * MB, 100)] * 12], DEFAULT) == 64
    assert health([], DEFAULT) == 100
