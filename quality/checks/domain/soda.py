"""Imports checks of SodaCL: what fits becomes a rule, what does not is refused by its line.

The form is `checks for <table>:` with a list of checks, each a text or a text with settings.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from portal.lake.errors import RuleViolation
from quality.checks.domain.documents import load_yaml, read_parsed
from quality.checks.domain.rules import CheckSet

_TABLE = re.compile(r"checks for ([\w.]+)\s*\Z")
_NUMBER = r"[+-]?\d+(?:\.\d+)?"
_CHECK = re.compile(
    r"(?P<metric>\w+)(?:\s*\((?P<arguments>[^()]*)\))?\s*(?P<bound>(?:[<>=!]|between\b|not\b).*)\Z"
)
_BETWEEN = re.compile(rf"between\s+[\[(]?({_NUMBER})%?\s+and\s+({_NUMBER})%?[\])]?\s*\Z")
_BOUND = re.compile(rf"(<=|>=|<|>|=)\s*({_NUMBER})\s*(%?)\s*\Z")
_AGE = re.compile(r"<=?\s*(?:(\d+)d)?\s*(?:(\d+)h)?\s*(?:(\d+)m)?\s*\Z")
_PLAIN = {
    "row_count": "row_count",
    "missing_count": "null_count",
    "missing_percent": "null_rate",
    "duplicate_count": "duplicate_rows",
    "avg": "mean",
    "sum": "sum",
    "min": "min",
    "max": "max",
    "stddev": "stddev",
    "min_length": "min_length",
    "max_length": "max_length",
    "percentile": "quantile",
}
_OWN_SETTINGS = frozenset({"name", "filter", "warn", "fail"})
_VALID = frozenset(
    {
        "valid regex", "valid values", "valid min", "valid max", "valid min length",
        "valid max length",
    }
)  # fmt: skip
_UNIT_OF_COUNTS = 1
Parsed = dict[str, Any]


class Refused(msgspec.Struct, frozen=True):
    """A check that was not imported."""

    check: str
    """The check as it is written."""
    reason: str
    line: int = 0
    """Where in the document it stands; 0: it is written otherwise there."""


class Imported(msgspec.Struct, frozen=True):
    """What came of a document."""

    checks: CheckSet | None
    """None: no check of it could be taken over."""
    refused: tuple[Refused, ...]


def import_soda(text: str, *, db: str = "", partition_key: str = "") -> Imported:
    """Read the checks of one table from a SodaCL document.

    `db` is the table's database where the document names the table alone.

    Raises:
        RuleViolation: `checks.document`, the document is no SodaCL, or of several tables.
    """
    data = load_yaml(text)
    named = _checks(data)
    table, checks = named
    rules: list[Parsed] = []
    refused: list[Refused] = []
    for line, settings in checks:
        try:
            rule = _rule(line, settings)
            _alone(table, db, rule)
            rules.append(rule)
        except (_Unfit, RuleViolation) as error:
            refused.append(Refused(line, str(error), _line_of(text, line, refused)))
    found = {"table": _full(table, db), "partition_key": partition_key, "rules": _named(rules)}
    return Imported(read_parsed(found) if rules else None, tuple(refused))


def _line_of(text: str, check: str, before: list[Refused]) -> int:
    """Return the line of a check; of equal ones the next after those that were refused."""
    taken = {one.line for one in before if one.check == check}
    for number, line in enumerate(text.splitlines(), 1):
        if check in line and number not in taken:
            return number
    return 0


class _Unfit(Exception):
    """A check that is refused, with the reason."""


def _checks(data: Any) -> tuple[str, list[tuple[str, Mapping[str, Any]]]]:
    tables = [
        (match.group(1), value)
        for key, value in (data.items() if isinstance(data, dict) else ())
        if (match := _TABLE.match(str(key)))
    ]
    if len(tables) != 1 or not isinstance(tables[0][1], list):
        raise RuleViolation(
            "checks.document",
            "This is no SodaCL of one table: write `checks for db.table:` once, with a list.",
        )
    table, listed = tables[0]
    found: list[tuple[str, Mapping[str, Any]]] = []
    for one in listed:
        if isinstance(one, dict) and len(one) == 1:
            ((line, settings),) = one.items()
            found.append((str(line), settings if isinstance(settings, dict) else {"": settings}))
        else:
            found.append((str(one), {}))
    return table, found


def _rule(line: str, settings: Mapping[str, Any]) -> Parsed:
    if line.strip() == "schema":
        return _schema(settings)
    if line.startswith("freshness"):
        return _with_settings(_freshness(line), settings, ())
    if line.startswith(("change ", "anomaly ")):
        raise _Unfit("write it as `compare` or `learnt`; Soda's history stays with Soda")
    match = _CHECK.match(line)
    if match is None:
        raise _Unfit("this form of a check is not known")
    metric = match["metric"]
    columns = [one.strip() for one in (match["arguments"] or "").split(",") if one.strip()]
    if metric in {"invalid_count", "invalid_percent"}:
        return _invalid(metric, columns, match["bound"], settings)
    if metric not in _PLAIN:
        raise _Unfit(f"the metric {metric} is not known")
    rule: Parsed = {"metric": _PLAIN[metric]}
    if metric == "percentile":
        rule["q"] = _quantile(columns.pop()) if len(columns) > 1 else None
    if columns:
        rule["columns"] = columns
    bounds = _bounds(match["bound"], metric)
    return _with_settings(rule | bounds, settings, ())


def _quantile(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise _Unfit(f"{text} is no quantile") from None


def _freshness(line: str) -> Parsed:
    match = re.match(r"freshness\s*\((\w+)\)\s*(.*)\Z", line)
    age = _AGE.match(match.group(2)) if match else None
    if match is None or age is None or not any(age.groups()):
        raise _Unfit("write freshness(column) < 1d, 3h or 30m")
    days, hours, minutes = (int(one or 0) for one in age.groups())
    seconds = ((days * 24 + hours) * 60 + minutes) * 60
    return {"metric": "freshness", "columns": [match.group(1)], "max": seconds}


def _schema(settings: Mapping[str, Any]) -> Parsed:
    wanted: Parsed = {"metric": "schema"}
    types: dict[str, str] = {}
    for level in ("fail", "warn"):
        given = settings.get(level)
        if not isinstance(given, dict):
            continue
        for when, value in given.items():
            if when == "when required column missing" and isinstance(value, list):
                types |= {str(name): "" for name in value}
            elif when == "when wrong column type" and isinstance(value, dict):
                types |= {str(name): str(of) for name, of in value.items()}
            else:
                raise _Unfit(f"`{when}` is not known in this form")
        wanted["severity"] = "alarm" if level == "fail" else "note"
    if not types:
        raise _Unfit("it expects no columns")
    return wanted | {"types": types}


def _invalid(metric: str, columns: list[str], bound: str, settings: Mapping[str, Any]) -> Parsed:
    """Return the rate of what is valid: counts of invalid values must be of none."""
    given = {key: value for key, value in settings.items() if key in _VALID}
    if len(columns) != 1 or not given:
        raise _Unfit("it needs one column, and valid regex, values, min or max")
    bounds = _bounds(bound, metric)
    share = bounds.get("max")
    if "min" in bounds and bounds["min"] != 0:
        raise _Unfit("only an upper bound of invalid values is known")
    if metric == "invalid_count" and share != 0:
        raise _Unfit("only `= 0` of a count; write invalid_percent")
    rule: Parsed = {"columns": columns, "min": 1 - float(share or 0)}
    if set(given) == {"valid regex"}:
        rule |= {"metric": "regex_rate", "pattern": str(given["valid regex"])}
    elif set(given) == {"valid values"}:
        rule |= {"metric": "in_set_rate", "values": given["valid values"]}
    elif set(given) <= {"valid min", "valid max"}:
        rule |= {"metric": "range_rate", "low": given.get("valid min")}
        rule["high"] = given.get("valid max")
    else:
        raise _Unfit(f"{', '.join(sorted(given))} are not known together")
    return _with_settings(rule, settings, _VALID)


def _with_settings(rule: Parsed, settings: Mapping[str, Any], known: Any) -> Parsed:
    unknown = set(settings) - _OWN_SETTINGS - set(known)
    if unknown or {"warn", "fail"} & set(settings):
        names = ", ".join(sorted(map(str, unknown | ({"warn", "fail"} & set(settings)))))
        raise _Unfit(f"the setting {names} is not known here")
    if settings.get("name"):
        rule["name"] = str(settings["name"])
    if settings.get("filter"):
        rule["where"] = str(settings["filter"])
    return rule


def _bounds(text: str, metric: str) -> Parsed:
    per = 100 if metric.endswith("_percent") else _UNIT_OF_COUNTS
    between = _BETWEEN.match(text)
    if between is not None:
        low, high = (_number(one) for one in between.groups())
        return {"min": low / per if per > 1 else low, "max": high / per if per > 1 else high}
    match = _BOUND.match(text)
    if match is None:
        raise _Unfit("its bound is not known: use <, <=, >, >=, = or between")
    sign, value = match.group(1), _number(match.group(2))
    value = value / per if per > 1 else value
    step = _step(metric, value)
    return dict(_limits(sign, value, step))


def _limits(sign: str, value: float, step: float) -> Iterator[tuple[str, float]]:
    if sign in {">", ">=", "="}:
        yield "min", value + step if sign == ">" else value
    if sign in {"<", "<=", "="}:
        yield "max", value - step if sign == "<" else value


def _step(metric: str, value: float) -> float:
    """Return by what a strict bound differs from ours, which belongs to what passes."""
    if metric == "row_count" or metric.endswith(("_count", "_length")):
        return 1
    return max(abs(value), 1.0) * 1e-9


def _number(text: str) -> float:
    return float(text) if "." in text else int(text)


def _alone(table: str, db: str, rule: Parsed) -> None:
    """Check a rule by itself, so that one that does not fit leaves the others."""
    read_parsed({"table": _full(table, db), "rules": [rule]})


def _full(table: str, db: str) -> str:
    return table if "." in table or not db else f"{db}.{table}"


def _named(rules: list[Parsed]) -> list[Parsed]:
    """Give rules of one metric different names, as Soda needs none."""
    taken: dict[str, int] = {}
    for one in rules:
        name = one.get("name") or "_".join([one["metric"], *one.get("columns", ())])
        taken[name] = taken.get(name, 0) + 1
        if taken[name] > 1:
            one["name"] = f"{name}_{taken[name]}"
    return rules
