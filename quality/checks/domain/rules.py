"""Rules on a table as somebody declares them, and what must hold of a declaration."""

import math
import re
from collections import Counter
from enum import StrEnum
from typing import Literal

import msgspec

from portal.lake.errors import RuleViolation
from portal.lake.names import check_identifier
from quality.checks.domain.metrics import (
    COMPARED,
    SEVERAL_COLUMNS,
    WITHOUT_COLUMN,
    Metric,
    MetricKind,
)
from quality.checks.domain.statements import check_filter, check_query

MOST_RULES = 500
MOST_VALUES = 1000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _.:-]{0,99}\Z")
_PERCENT = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*%\s*\Z")
_MOST_PERIODS = 366
_WITHOUT_FILTER = frozenset({MetricKind.CUSTOM_SQL, MetricKind.SCHEMA, COMPARED})


class Severity(StrEnum):
    """What follows when a rule does not hold."""

    NOTE = "note"
    ALARM = "alarm"
    BLOCK = "block"


class CompareWith(StrEnum):
    """Which earlier windows a value is compared with."""

    PREVIOUS = "previous"
    LAST_DAYS = "last_days"
    SAME_WEEKDAY = "same_weekday"
    LAST_MONTH = "last_month"
    LAST_YEAR = "last_year"


class Season(StrEnum):
    """What repeats in a metric's history."""

    NONE = "none"
    WEEK = "week"


class Compare(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Bounds of the change against earlier windows: `-20%` of it, or a difference as a number."""

    with_: CompareWith = msgspec.field(name="with")
    periods: int = 1
    """How many of them; the value is compared with their median."""
    min: int | float | str | None = None
    max: int | float | str | None = None


class Learnt(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Bounds learnt from the history: how many usual deviations from the usual value pass."""

    season: Season = Season.NONE
    tolerance: float = 6.0
    least: int = 21
    """How many earlier values it needs before it says anything."""
    days: int = 90
    """How far back it looks."""
    floor: float = 0.0
    """Deviations below this one pass, however quiet the history is."""


class Rule(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A metric with what it has to be: fixed bounds, a comparison, or learnt bounds."""

    metric: MetricKind
    name: str = ""
    column: str = ""
    columns: tuple[str, ...] = ()
    where: str = ""
    min: int | float | None = None
    max: int | float | None = None
    compare: Compare | None = None
    learnt: Learnt | None = None
    severity: Severity = Severity.ALARM
    q: float | None = None
    pattern: str = ""
    low: int | float | None = None
    high: int | float | None = None
    values: tuple[bool | int | float | str, ...] = ()
    other_table: str = ""
    other_column: str = ""
    types: dict[str, str] = {}
    exact: bool = False
    sql: str = ""
    description: str = ""

    @property
    def measured(self) -> Metric:
        """What has to be measured for it."""
        return Metric(
            kind=self.metric,
            columns=self.columns or ((self.column,) if self.column else ()),
            where=self.where.strip(),
            q=self.q,
            pattern=self.pattern,
            low=self.low,
            high=self.high,
            values=tuple(_text(one) for one in self.values),
            other_table=self.other_table,
            other_column=self.other_column,
            types=self.types,
            exact=self.exact,
            sql=self.sql.strip(),
        )

    @property
    def needs_history(self) -> bool:
        """Whether it is judged against earlier windows."""
        return self.compare is not None or self.learnt is not None


class CheckSet(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """All rules of one table."""

    table: str
    rules: tuple[Rule, ...]
    partition_key: str = ""
    """One value of it is one window; empty: the whole table is one."""
    samples: Literal["on", "off"] = "on"
    """Whether rows that speak against rules are kept for those who own them."""


def percent(bound: float | str) -> float | None:
    """Return a bound in percent as a share: `-20%` is -0.2; None: it is a plain number."""
    if not isinstance(bound, str):
        return None
    match = _PERCENT.match(bound)
    if match is None:
        raise ValueError(bound)
    return float(match.group(1)) / 100


def complete(checks: CheckSet) -> CheckSet:
    """Return the set with a name for each rule, after checking what needs no table.

    Raises:
        RuleViolation: `checks.rule`, which names the rule, the field and what to do.
    """
    table = checks.table.split(".")
    if len(table) != 2:
        raise _wrong("", "table", f"{checks.table!r} is not of the form db.table")
    for part, kind in zip(table, ("database", "table"), strict=True):
        check_identifier(part, kind=kind)
    if checks.partition_key:
        check_identifier(checks.partition_key, kind="column")
    if not 0 < len(checks.rules) <= MOST_RULES:
        raise _wrong("", "rules", f"write between 1 and {MOST_RULES} rules")
    rules = tuple(
        one if one.name else msgspec.structs.replace(one, name=default_name(one))
        for one in checks.rules
    )
    for name, count in Counter(one.name for one in rules).items():
        if count > 1:
            raise _wrong(name, "name", f"{count} rules have this name; give each its own")
    for one in rules:
        check_rule(one)
    return msgspec.structs.replace(checks, rules=rules)


def default_name(rule: Rule) -> str:
    """Return what a rule without a name is called: its metric and columns."""
    return "_".join([rule.metric.value, *rule.measured.columns])[:100]


def check_rule(rule: Rule) -> None:
    """Refuse a rule that cannot be measured or judged.

    Raises:
        RuleViolation: `checks.rule`.
    """
    if not _NAME.match(rule.name):
        raise _wrong(rule.name, "name", "use 1-100 letters, digits, spaces and _ . : -")
    if rule.column and rule.columns:
        raise _wrong(rule.name, "column", "give column or columns, not both")
    _check_columns(rule)
    _check_parameters(rule)
    if rule.where:
        try:
            check_filter(rule.where)
        except ValueError as error:
            raise _wrong(rule.name, "where", str(error)) from error
    _check_bounds(rule)


def _check_columns(rule: Rule) -> None:
    columns = rule.measured.columns
    if rule.metric in WITHOUT_COLUMN:
        if columns:
            raise _wrong(rule.name, "column", f"{rule.metric} has no column; leave it out")
        return
    if not columns:
        raise _wrong(rule.name, "column", f"{rule.metric} needs a column")
    if len(columns) > 1 and rule.metric not in SEVERAL_COLUMNS:
        raise _wrong(rule.name, "columns", f"{rule.metric} is of one column; make a rule for each")
    if len(set(columns)) < len(columns):
        raise _wrong(rule.name, "columns", "name each column once")


_PARAMETERS: dict[MetricKind, tuple[str, ...]] = {
    MetricKind.QUANTILE: ("q",),
    MetricKind.REGEX_RATE: ("pattern",),
    MetricKind.RANGE_RATE: ("low", "high"),
    MetricKind.IN_SET_RATE: ("values",),
    MetricKind.REFERENTIAL_RATE: ("other_table", "other_column"),
    MetricKind.ROW_COUNT_DIFFERENCE: ("other_table",),
    MetricKind.SCHEMA: ("types", "exact"),
    MetricKind.CUSTOM_SQL: ("sql",),
}
_ALL_PARAMETERS = sorted({name for names in _PARAMETERS.values() for name in names})


def _check_parameters(rule: Rule) -> None:
    own = _PARAMETERS.get(rule.metric, ())
    for name in _ALL_PARAMETERS:
        if name not in own and getattr(rule, name) not in (None, "", (), {}, False):
            raise _wrong(rule.name, name, f"{rule.metric} does not use it; leave it out")
    if rule.metric is MetricKind.RANGE_RATE:
        if rule.low is None and rule.high is None:
            raise _wrong(rule.name, "low", "range_rate needs low, high or both")
        if rule.low is not None and rule.high is not None and rule.low > rule.high:
            raise _wrong(rule.name, "low", "low is above high; no value is in the range")
    else:
        for name in own:
            if name != "exact" and getattr(rule, name) in (None, "", (), {}):
                raise _wrong(rule.name, name, f"{rule.metric} needs it")
    _check_values(rule)


def _check_values(rule: Rule) -> None:
    if rule.q is not None and not 0 <= rule.q <= 1:
        raise _wrong(rule.name, "q", "a quantile is between 0 and 1")
    if len(rule.values) > MOST_VALUES:
        raise _wrong(
            rule.name,
            "values",
            f"at most {MOST_VALUES}; put them into a table and use referential_rate",
        )
    if rule.other_table:
        parts = rule.other_table.split(".")
        if len(parts) != 2 or not all(parts):
            raise _wrong(rule.name, "other_table", "write db.table")
        for part in parts:
            check_identifier(part, kind="table")
    _check_texts(rule)


def _check_texts(rule: Rule) -> None:
    if rule.pattern:
        try:
            re.compile(rule.pattern)
        except re.error as error:
            raise _wrong(rule.name, "pattern", f"not a regular expression: {error}") from error
    if rule.metric in _WITHOUT_FILTER and rule.where:
        raise _wrong(rule.name, "where", f"{rule.metric} has no filter; leave it out")
    if rule.sql:
        try:
            check_query(rule.sql)
        except ValueError as error:
            raise _wrong(rule.name, "sql", str(error)) from error


def _check_bounds(rule: Rule) -> None:
    fixed = rule.min is not None or rule.max is not None
    n_kinds = sum((fixed, rule.compare is not None, rule.learnt is not None))
    if n_kinds == 0 and rule.metric is not MetricKind.SCHEMA:
        raise _wrong(rule.name, "min", "say what it has to be: min, max, compare or learnt")
    if n_kinds > 1:
        raise _wrong(
            rule.name,
            "compare",
            "use one of min and max, compare, learnt; make a second rule for the other",
        )
    if fixed:
        _check_order(rule.name, "min", rule.min, rule.max)
    if rule.compare is not None:
        _check_compare(rule.name, rule.compare)
    if rule.learnt is not None:
        _check_learnt(rule.name, rule.learnt)


def _check_compare(name: str, compare: Compare) -> None:
    if compare.min is None and compare.max is None:
        raise _wrong(name, "compare", "give min, max or both: the change that is allowed")
    if not 1 <= compare.periods <= _MOST_PERIODS:
        raise _wrong(name, "compare.periods", f"between 1 and {_MOST_PERIODS}")
    shares: list[float | None] = []
    for field, bound in (("min", compare.min), ("max", compare.max)):
        try:
            shares.append(None if bound is None else percent(bound))
        except ValueError as error:
            raise _wrong(
                name,
                f"compare.{field}",
                f"{bound!r} is neither a number nor a percentage such as -20%",
            ) from error
    low, high = shares
    if low is not None and high is not None:
        _check_order(name, "compare.min", low, high)
    elif isinstance(compare.min, float | int) and isinstance(compare.max, float | int):
        _check_order(name, "compare.min", compare.min, compare.max)


def _check_learnt(name: str, learnt: Learnt) -> None:
    for field, value, low, high in (
        ("tolerance", learnt.tolerance, 1, 100),
        ("least", learnt.least, 5, 1000),
        ("days", learnt.days, 7, 1500),
    ):
        if not low <= value <= high:
            raise _wrong(name, f"learnt.{field}", f"between {low} and {high}")
    if not (math.isfinite(learnt.floor) and learnt.floor >= 0):
        raise _wrong(name, "learnt.floor", "a number that is not negative")


def _check_order(name: str, field: str, low: float | None, high: float | None) -> None:
    for value in (low, high):
        if value is not None and not math.isfinite(value):
            raise _wrong(name, field, "bounds are finite numbers")
    if low is not None and high is not None and low > high:
        raise _wrong(name, field, "min is above max; no value passes")


def _text(value: object) -> str:
    """Return a value as Spark casts it to a text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _wrong(rule: str, field: str, problem: str) -> RuleViolation:
    place = f"Rule {rule!r}, {field}" if rule else field
    return RuleViolation("checks.rule", f"{place}: {problem}.", rule=rule, field=field)
