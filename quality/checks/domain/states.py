"""What is kept of a metric, so that parts of a window can be merged into the whole's value.

A state is what one pass over some rows gives. Merging the states of any split of the rows gives
the state of them all: counts and sums of whole numbers and decimals exactly, those of floating
point up to its rounding.
"""

import math
from datetime import datetime
from decimal import Context, Decimal

import msgspec

from quality.checks.domain.metrics import Metric, MetricKind
from quality.checks.domain.reasons import Reason

_EXACT = Context(prec=80)


class State(msgspec.Struct, frozen=True, omit_defaults=True):
    """Counts and sums of one metric over some rows; what its kind does not need is empty."""

    n: int = 0
    """Rows that the filter takes."""
    n_values: int = 0
    """Of them, those with a value; of grouped metrics, the distinct values."""
    n_hits: int = 0
    """Of them, those that the metric looks for."""
    n_bad: int = 0
    """Values that are NaN or infinite."""
    total: str = ""
    """Sum of the values, as a decimal."""
    deviations: float = 0.0
    """Sum of squared deviations from the mean."""
    low: str = ""
    high: str = ""
    """Extremes as decimals; instants as seconds since 1970."""
    number: float | None = None
    """The value itself, of metrics that cannot be merged."""


class Value(msgspec.Struct, frozen=True, omit_defaults=True):
    """A metric's value; None for a reason."""

    value: float | None = None
    reason: str = ""


def merge(metric: Metric, first: State, second: State) -> State:
    """Return the state of both parts' rows.

    Raises:
        ValueError: The metric cannot be merged.
    """
    if not metric.is_mergeable:
        raise ValueError(f"{metric.kind} cannot be merged")
    return State(
        n=first.n + second.n,
        n_values=first.n_values + second.n_values,
        n_hits=first.n_hits + second.n_hits,
        n_bad=first.n_bad + second.n_bad,
        total=_sum(first.total, second.total),
        deviations=_deviations(first, second),
        low=_extreme(first.low, second.low, least=True),
        high=_extreme(first.high, second.high, least=False),
    )


_OF_NUMBERS = frozenset(
    {MetricKind.MEAN, MetricKind.SUM, MetricKind.STDDEV, MetricKind.MIN, MetricKind.MAX}
)


def value_of(metric: Metric, state: State, *, reference: datetime | None = None) -> Value:
    """Return the value that a state gives; `reference` is what freshness counts back from."""
    kind = metric.kind
    if kind is MetricKind.ROW_COUNT:
        return Value(float(state.n))
    if kind is MetricKind.NULL_COUNT:
        return Value(float(state.n_hits))
    if kind is MetricKind.NULL_RATE:
        return _share(state.n_hits, state.n)
    if kind in {MetricKind.REGEX_RATE, MetricKind.RANGE_RATE, MetricKind.IN_SET_RATE}:
        return _share(state.n_hits, state.n_values) if state.n_values else _nothing(state)
    if state.n_bad and kind in _OF_NUMBERS:
        return Value(None, Reason.NOT_A_NUMBER)
    if kind is MetricKind.FRESHNESS:
        return _freshness(state, reference)
    if not metric.is_mergeable:
        return _plain(state)
    return _of_values(kind, state)


def _of_values(kind: MetricKind, state: State) -> Value:
    if not state.n_values:
        return _nothing(state)
    match kind:
        case MetricKind.SUM:
            return _finite(float(Decimal(state.total)))
        case MetricKind.MEAN:
            return _finite(float(_EXACT.divide(Decimal(state.total), Decimal(state.n_values))))
        case MetricKind.STDDEV:
            if state.n_values < 2:
                return Value(None, Reason.DIVISION_BY_ZERO)
            return _finite(math.sqrt(max(state.deviations, 0.0) / (state.n_values - 1)))
        case MetricKind.MIN | MetricKind.MIN_LENGTH:
            return _finite(float(Decimal(state.low)))
        case _:
            return _finite(float(Decimal(state.high)))


def _freshness(state: State, reference: datetime | None) -> Value:
    if not state.high:
        return _nothing(state)
    if reference is None:
        return Value(None, Reason.NOT_MEASURED)
    return Value(reference.timestamp() - float(Decimal(state.high)))


def _plain(state: State) -> Value:
    return _nothing(state) if state.number is None else _finite(state.number)


def _share(hits: int, of: int) -> Value:
    return Value(hits / of) if of else Value(None, Reason.EMPTY_WINDOW)


def _nothing(state: State) -> Value:
    return Value(None, Reason.NO_VALUES if state.n else Reason.EMPTY_WINDOW)


def _finite(value: float) -> Value:
    return Value(value) if math.isfinite(value) else Value(None, Reason.NOT_A_NUMBER)


def _sum(first: str, second: str) -> str:
    if not (first and second):
        return first or second
    return str(_EXACT.add(Decimal(first), Decimal(second)))


def _extreme(first: str, second: str, *, least: bool) -> str:
    if not (first and second):
        return first or second
    return (min if least else max)(first, second, key=Decimal)


def _deviations(first: State, second: State) -> float:
    """Add the sums of squared deviations as Chan, Golub and LeVeque do."""
    if not (first.n_values and second.n_values and first.total and second.total):
        return first.deviations + second.deviations
    means = [_EXACT.divide(Decimal(one.total), Decimal(one.n_values)) for one in (first, second)]
    apart = float(_EXACT.subtract(means[1], means[0]))
    weight = first.n_values * second.n_values / (first.n_values + second.n_values)
    return first.deviations + second.deviations + apart * apart * weight
