"""Compares the columns that a table has with those that a rule expects."""

import re
from collections.abc import Mapping

from quality.checks.domain.metrics import Metric

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
