"""Tests the verdict on a change: right where it is clear, unsure where it is not, seldom wrong."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.advice.domain.paired import Decision, Replayed, judge

MB = 2**20


def queries(ratios: list[float], seed: int = 1) -> list[Replayed]:
    """Return queries of sizes that differ a hundredfold; each reads its ratio afterwards."""
    sizes = np.random.default_rng(seed).integers(1, 100, len(ratios))
    return [
        Replayed(int(size) * MB, int(size * ratio * MB))
        for size, ratio in zip(sizes, ratios, strict=True)
    ]


def test_a_clear_gain_is_kept_and_a_clear_loss_rolled_back() -> None:
    gain = judge(queries([0.4, 0.5, 0.6] * 10), least_saved=0.05)
    assert gain.decision is Decision.KEEP
    assert gain.low <= gain.saved <= gain.high
    assert 0.4 < gain.saved < 0.6
    assert "30 queries" in gain.reason
    loss = judge(queries([1.0, 1.1, 1.2] * 10), least_saved=0.05)
    assert (loss.decision, loss.n_worse) == (Decision.ROLL_BACK, 20)


def test_a_gain_that_hangs_on_one_query_is_unsure() -> None:
    found = [Replayed(1000 * MB, 10 * MB), *[Replayed(100 * MB, 101 * MB)] * 20]
    assert judge(found, least_saved=0.05).decision is Decision.UNSURE


@pytest.mark.parametrize(
    "few", [[], [Replayed(5, 1)] * 7, [Replayed(0, 0)] * 50, [Replayed(0, 9)] * 50]
)
def test_too_little_is_unsure_and_says_what_is_needed(few: list[Replayed]) -> None:
    found = judge(few, least_saved=0.05)
    assert found.decision is Decision.UNSURE
    assert "8 are needed" in found.reason


def test_a_query_that_comes_often_counts_as_often() -> None:
    often = [Replayed(100, 10, weight=50.0)] * 10 + [Replayed(100, 200)] * 10
    assert judge(often, least_saved=0.5).saved == pytest.approx(1 - 7000 / 51000)


@pytest.mark.parametrize("wrong", [Replayed(-1, 0), Replayed(0, 1, -1.0), Replayed(1, 1, np.nan)])
def test_what_is_no_count_is_refused(wrong: Replayed) -> None:
    with pytest.raises(ValueError, match="from 0 up"):
        judge([wrong] * 9, least_saved=0.05)


@pytest.mark.parametrize("true_gain", [0.0, 0.04])
def test_what_does_not_pay_is_seldom_kept(true_gain: float) -> None:
    """The confidence holds: of a hundred trials of no use five may be kept, some more by chance."""
    kept = 0
    for seed in range(100):
        chance = np.random.default_rng(seed)
        ratios = np.clip(chance.normal(1 - true_gain, 0.3, 40), 0, None)
        verdict = judge(queries(list(ratios), seed), least_saved=0.05)
        kept += verdict.decision is Decision.KEEP
    assert kept <= 10


@given(st.lists(st.tuples(st.integers(0, 2**50), st.integers(0, 2**50)), max_size=30))
def test_the_order_of_queries_changes_no_share(pairs: list[tuple[int, int]]) -> None:
    found = [Replayed(*one) for one in pairs]
    one, other = (judge(each, least_saved=0.05) for each in (found, found[::-1]))
    assert one.saved == pytest.approx(other.saved)
    assert one == judge(found, least_saved=0.05)
