"""Judges a change of layout by the same queries before and after it.

Each query was planned twice, so what differs between queries does not count; what is uncertain is
which queries come next. The interval is a percentile bootstrap over queries (Efron 1979) of the
share of bytes that is saved.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

N_RESAMPLES = 2_000
CONFIDENCE = 0.95
LEAST_QUERIES = 8
"""Below so many the bootstrap's interval is too narrow to be believed."""
_SEED = 20_261_126


@dataclass(frozen=True, slots=True)
class Replayed:
    """A recorded query: bytes that it plans to read before and after, and how often it comes."""

    before: int
    after: int
    weight: float = 1.0


class Decision(StrEnum):
    """What becomes of a change that was tried."""

    KEEP = "KEEP"
    ROLL_BACK = "ROLL_BACK"
    UNSURE = "UNSURE"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The share of bytes that is saved, between -inf and 1, with its interval, and a decision."""

    decision: Decision
    saved: float
    low: float
    high: float
    n_queries: int
    n_worse: int
    reason: str


def judge(queries: Sequence[Replayed], *, least_saved: float) -> Verdict:
    """Decide whether a change saves at least `least_saved` (0.05 is 5 %) of the bytes read.

    The same queries give the same verdict. Queries that read nothing before and after count for
    nothing.

    Raises:
        ValueError: a count of bytes or a weight is below 0, or no number.
    """
    before, after = _weighted(queries, "before"), _weighted(queries, "after")
    counts = (before > 0) | (after > 0)
    before, after = before[counts], after[counts]
    n, n_worse = len(before), int((after > before).sum())
    if n < LEAST_QUERIES or before.sum() == 0:
        words = f"{n} queries that read the table were replayed; {LEAST_QUERIES} are needed."
        return Verdict(Decision.UNSURE, 0.0, -np.inf, 1.0, n, n_worse, words)
    saved = 1 - float(after.sum() / before.sum())
    low, high = _interval(before, after)
    decision, words = _decide(low, high, least_saved)
    reason = (
        f"The same {n} queries read {saved:.1%} fewer bytes "
        f"({low:.1%} to {high:.1%} with {CONFIDENCE:.0%} confidence); {words}"
    )
    return Verdict(decision, saved, low, high, n, n_worse, reason)


def _weighted(queries: Sequence[Replayed], name: str) -> np.ndarray:
    values = np.array([getattr(one, name) * one.weight for one in queries], dtype=np.float64)
    weights = np.array([one.weight for one in queries], dtype=np.float64)
    if not np.isfinite(values).all() or (values < 0).any() or (weights < 0).any():
        raise ValueError("bytes and weights of replayed queries are numbers from 0 up")
    return values


def _interval(before: np.ndarray, after: np.ndarray) -> tuple[float, float]:
    n, chance = len(before), np.random.default_rng(_SEED)
    saved = np.empty(N_RESAMPLES)
    # One resample at a time: memory does not grow with the log.
    for number in range(N_RESAMPLES):
        drawn = chance.integers(0, n, n)
        read = before[drawn].sum()
        saved[number] = 1 - after[drawn].sum() / read if read else 0.0
    edge = (1 - CONFIDENCE) / 2
    low, high = np.quantile(saved, [edge, 1 - edge])
    return float(low), float(high)


def _decide(low: float, high: float, least_saved: float) -> tuple[Decision, str]:
    wanted = f"{least_saved:.1%} must be saved"
    if low >= least_saved:
        return Decision.KEEP, f"{wanted}, and that is sure enough."
    if high < least_saved:
        return Decision.ROLL_BACK, f"{wanted}, and it is sure enough that it is less."
    return Decision.UNSURE, f"{wanted}, and more queries are needed to tell."
