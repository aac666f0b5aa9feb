"""Estimates of a cube's size against the truth, and the rule by which one would not pay."""

import random

import pytest

from optimizer.cubes.domain.estimates import (
    CubeEstimate,
    SampledFile,
    estimated_rows,
    judged,
    spread_files,
)


def estimate(cube_rows: float, *, byte_share: float = 0.1, n_rows: int = 1_000) -> CubeEstimate:
    n_bytes = 1 << 30
    return CubeEstimate(n_rows, n_bytes, cube_rows, byte_share * n_bytes, 1.0, is_exact=True)


@pytest.mark.parametrize("n_groups", [3, 50, 900])
def test_groups_are_estimated_within_a_tenth(n_groups: int) -> None:
    chance = random.Random(n_groups)
    files = []
    for _ in range(200):
        n_rows = chance.randint(500, 1_500)
        groups = {chance.randrange(n_groups) for _ in range(n_rows)}
        files.append(SampledFile(n_rows, len(groups)))
    truth = sum(one.n_groups for one in files)
    total = sum(one.n_rows for one in files)
    places = spread_files([one.n_rows for one in files], most_files=32, most_rows=10**9)
    assert len(places) == 32
    found = estimated_rows([files[place] for place in places], total)
    assert abs(found - truth) <= 0.1 * truth
    assert estimated_rows(files, total) == truth


def test_an_empty_table_has_no_groups() -> None:
    assert estimated_rows([], 0) == 0
    assert judged(estimate(0, n_rows=0), {}).pays


def test_large_files_are_left_out_but_one_is_always_read() -> None:
    assert spread_files([0, 5, 900, 7], most_files=8, most_rows=20) == [1, 3]
    assert spread_files([900], most_files=8, most_rows=20) == [0]
    assert spread_files([0, 0], most_files=8, most_rows=20) == []


def test_a_cube_as_large_as_its_table_is_refused_and_the_costly_dimension_is_named() -> None:
    found = judged(estimate(950), {"customer": 40.0, "region": 900.0})
    assert not found.pays
    assert "95.0% of the table's 1,000" in found.reason
    assert "Without the dimension customer it would hold 4.0%" in found.reason
    assert "No single dimension" in judged(estimate(950), {"a": 940.0, "b": 930.0}).reason


def test_wide_measures_are_refused_and_small_cubes_pay() -> None:
    assert "60% of the table's bytes" in judged(estimate(40, byte_share=0.6), {}).reason
    tiny = CubeEstimate(1_000, 1_000, 40.0, 900.0, 1.0, is_exact=True)
    assert judged(tiny, {}).pays
    found = judged(estimate(40), {})
    assert found.pays
    assert "40 rows, 4.0%" in found.reason
