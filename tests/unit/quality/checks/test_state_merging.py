"""States of any split of rows merge into the state, and so the value, of all rows."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quality.checks.domain.metrics import MERGEABLE, Metric, MetricKind
from quality.checks.domain.reasons import Reason
from quality.checks.domain.states import State, merge, value_of

K = MetricKind
NOW = datetime(2026, 5, 3, tzinfo=UTC)
Value = Decimal | None
VALUES = st.one_of(
    st.none(), st.decimals(-(10**12), 10**12, places=2, allow_nan=False, allow_infinity=False)
)
KINDS = sorted(MERGEABLE)


def state_of(values: Sequence[Value]) -> State:
    """Return what one pass over rows gives, for any of the kinds; a hit is a positive value."""
    good = [one for one in values if one is not None]
    mean = sum(map(Decimal, good), Decimal(0)) / len(good) if good else Decimal(0)
    return State(
        n=len(values),
        n_values=len(good),
        n_hits=sum(one > 0 for one in good),
        total=str(sum(good)) if good else "",
        deviations=float(sum((one - mean) ** 2 for one in good)),
        low=str(min(good)) if good else "",
        high=str(max(good)) if good else "",
    )


@given(st.sampled_from(KINDS), st.lists(st.lists(VALUES, max_size=8), min_size=1, max_size=6))
def test_any_split_gives_the_whole(kind: MetricKind, parts: list[list[Value]]) -> None:
    metric = Metric(kind, ("x",))
    whole = state_of([one for part in parts for one in part])
    merged = reduce(lambda one, other: merge(metric, one, other), map(state_of, parts))
    first, second = (value_of(metric, one, reference=NOW) for one in (merged, whole))
    assert first.reason == second.reason
    if second.value is not None:
        assert first.value == pytest.approx(second.value, rel=1e-9, abs=1e-6)
    assert Decimal(merged.total or 0) == Decimal(whole.total or 0)
    assert (merged.n, merged.low, merged.high) == (whole.n, whole.low, whole.high) or (
        Decimal(merged.low) == Decimal(whole.low) and Decimal(merged.high) == Decimal(whole.high)
    )


@given(st.sampled_from(KINDS), st.lists(VALUES), st.lists(VALUES))
def test_the_order_of_parts_does_not_matter(
    kind: MetricKind, one: list[Value], other: list[Value]
) -> None:
    metric, first, second = Metric(kind, ("x",)), state_of(one), state_of(other)
    there, back = merge(metric, first, second), merge(metric, second, first)
    assert value_of(metric, there, reference=NOW) == value_of(metric, back, reference=NOW)


@pytest.mark.parametrize("kind", sorted(set(MetricKind) - MERGEABLE))
def test_what_cannot_be_merged_refuses(kind: MetricKind) -> None:
    with pytest.raises(ValueError, match="cannot be merged"):
        merge(Metric(kind, ("x",)), State(n=1), State(n=1))


@pytest.mark.parametrize(
    ("kind", "state", "reason"),
    [
        (K.NULL_RATE, State(), Reason.EMPTY_WINDOW),
        (K.MEAN, State(), Reason.EMPTY_WINDOW),
        (K.MEAN, State(n=3), Reason.NO_VALUES),
        (K.REGEX_RATE, State(n=3), Reason.NO_VALUES),
        (K.MAX, State(n=3, n_values=2, n_bad=1, high="1"), Reason.NOT_A_NUMBER),
        (K.SUM, State(n=3, n_bad=3), Reason.NOT_A_NUMBER),
        (K.STDDEV, State(n=1, n_values=1, total="3"), Reason.DIVISION_BY_ZERO),
        (K.SUM, State(n=1, n_values=1, total="1e400"), Reason.NOT_A_NUMBER),
        (K.UNIQUENESS, State(), Reason.EMPTY_WINDOW),
        (K.CUSTOM_SQL, State(n=1), Reason.NO_VALUES),
        (K.CUSTOM_SQL, State(n=1, number=math.nan), Reason.NOT_A_NUMBER),
    ],
)
def test_no_value_has_a_reason(kind: MetricKind, state: State, reason: Reason) -> None:
    found = value_of(Metric(kind, ("x",)), state, reference=NOW)
    assert (found.value, found.reason) == (None, reason)


def test_sums_of_whole_numbers_do_not_round() -> None:
    metric = Metric(K.SUM, ("x",))
    merged = merge(metric, State(n=1, n_values=1, total=str(2**62)), State(1, 1, total="1"))
    assert merged.total == str(2**62 + 1)
