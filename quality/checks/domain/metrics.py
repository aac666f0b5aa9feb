"""What is measured of a table's window: kinds of metrics, the identity of one, and a schema's."""

import hashlib
import re
from collections.abc import Mapping
from enum import StrEnum

import msgspec

LONGEST_KEY = 200
_DIGEST = 12


class MetricKind(StrEnum):
    """What is measured."""

    ROW_COUNT = "row_count"
    FRESHNESS = "freshness"
    NULL_RATE = "null_rate"
    NULL_COUNT = "null_count"
    UNIQUENESS = "uniqueness"
    DUPLICATE_ROWS = "duplicate_rows"
    DISTINCT_COUNT = "distinct_count"
    APPROX_DISTINCT_COUNT = "approx_distinct_count"
    MIN = "min"
    MAX = "max"
    MEAN = "mean"
    SUM = "sum"
    STDDEV = "stddev"
    QUANTILE = "quantile"
    REGEX_RATE = "regex_rate"
    RANGE_RATE = "range_rate"
    IN_SET_RATE = "in_set_rate"
    MIN_LENGTH = "min_length"
    MAX_LENGTH = "max_length"
    REFERENTIAL_RATE = "referential_rate"
    SCHEMA = "schema"
    ROW_COUNT_DIFFERENCE = "row_count_difference"
    SOURCE_DIFFERENCES = "source_differences"
    CUSTOM_SQL = "custom_sql"


_K = MetricKind
COMPARED = _K.SOURCE_DIFFERENCES
"""Known from comparisons of captured tables with their sources; the table is not read for it."""
WITHOUT_COLUMN = frozenset(
    {_K.ROW_COUNT, _K.SCHEMA, _K.ROW_COUNT_DIFFERENCE, _K.SOURCE_DIFFERENCES, _K.CUSTOM_SQL}
)
SEVERAL_COLUMNS = frozenset({_K.UNIQUENESS, _K.DUPLICATE_ROWS, _K.DISTINCT_COUNT})
RATES = frozenset(
    {
        _K.NULL_RATE,
        _K.UNIQUENESS,
        _K.REGEX_RATE,
        _K.RANGE_RATE,
        _K.IN_SET_RATE,
        _K.REFERENTIAL_RATE,
    }
)
SAMPLED = frozenset(
    {
        _K.NULL_RATE,
        _K.NULL_COUNT,
        _K.UNIQUENESS,
        _K.DUPLICATE_ROWS,
        _K.REGEX_RATE,
        _K.RANGE_RATE,
        _K.IN_SET_RATE,
        _K.REFERENTIAL_RATE,
    }
)
"""Metrics that single rows speak against, so that these can be shown."""
GROUPED = frozenset({_K.UNIQUENESS, _K.DUPLICATE_ROWS, _K.DISTINCT_COUNT})
SEPARATE = GROUPED | {_K.REFERENTIAL_RATE, _K.ROW_COUNT_DIFFERENCE, _K.CUSTOM_SQL}
MERGEABLE = frozenset(
    {
        _K.ROW_COUNT,
        _K.FRESHNESS,
        _K.NULL_RATE,
        _K.NULL_COUNT,
        _K.MIN,
        _K.MAX,
        _K.MEAN,
        _K.SUM,
        _K.STDDEV,
        _K.REGEX_RATE,
        _K.RANGE_RATE,
        _K.IN_SET_RATE,
        _K.MIN_LENGTH,
        _K.MAX_LENGTH,
    }
)
"""Metrics whose states of parts give the state of the whole."""


class Metric(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing to measure; what does not belong to its kind is empty."""

    kind: MetricKind
    columns: tuple[str, ...] = ()
    where: str = ""
    """Only rows for which this SQL condition holds."""
    q: float | None = None
    pattern: str = ""
    low: float | None = None
    high: float | None = None
    values: tuple[str, ...] = ()
    other_table: str = ""
    """`db.table` of the lake."""
    other_column: str = ""
    types: dict[str, str] = {}
    """Expected columns with their types as Spark writes them; empty text: any type."""
    exact: bool = False
    """Whether columns that are not in `types` count as differences as well."""
    sql: str = ""

    @property
    def key(self) -> str:
        """What it is called in histories: equal for equal metrics, and of at most 200 signs."""
        text = self.label
        if len(text) <= LONGEST_KEY and not self._is_hidden:
            return text
        digest = hashlib.sha256(msgspec.json.encode(self, order="sorted")).hexdigest()[:_DIGEST]
        return f"{text[: LONGEST_KEY - _DIGEST - 1]}#{digest}"

    @property
    def label(self) -> str:
        """What people read: `mean(amount) where status = 'paid'`."""
        inside = [*self.columns]
        if self.q is not None:
            inside.append(f"q={self.q:g}")
        if self.low is not None or self.high is not None:
            inside.append(f"{_bound(self.low)}..{_bound(self.high)}")
        if self.other_table:
            inside.append(".".join(filter(None, (self.other_table, self.other_column))))
        text = self.kind.value + (f"({', '.join(inside)})" if inside else "")
        return f"{text} where {self.where}" if self.where else text

    @property
    def is_mergeable(self) -> bool:
        """Whether it can be had from the states of a window's parts."""
        return self.kind in MERGEABLE

    @property
    def _is_hidden(self) -> bool:
        """Whether the label leaves out what tells it from other metrics."""
        return bool(self.pattern or self.values or self.types or self.sql)


def _bound(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


_SPACES = re.compile(r"\s+")
_OTHER_NAMES = {
    "integer": "int",
    "long": "bigint",
    "short": "smallint",
    "byte": "tinyint",
    "bool": "boolean",
}


def schema_differences(metric: Metric, columns: Mapping[str, str]) -> tuple[str, ...]:
    """Return in words what differs: missing columns, other types, and columns too many."""
    found = []
    for name, of in metric.types.items():
        if name not in columns:
            found.append(f"{name} is missing")
        elif of and _plain(of) != _plain(columns[name]):
            found.append(f"{name} is {columns[name]}, not {of}")
    if metric.exact:
        found += [f"{name} is not expected" for name in columns if name not in metric.types]
    return tuple(found)


def _plain(text: str) -> str:
    text = _SPACES.sub("", text).lower()
    return _OTHER_NAMES.get(text, text)
