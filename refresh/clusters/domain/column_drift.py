"""Detects drift between the columns of a table on a resource and its Hive table.

Such a table was declared once with columns of its own; no refresh repairs them. Types are compared
by the families that StarRocks takes for one another.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

Columns = Sequence[tuple[str, str]]

_HEAD = re.compile(r"\s*([a-z]+\d*)")
_FAMILIES = {
    "integer": "int",
    "timestamp": "datetime",
    "string": "text",
    "varchar": "text",
    "char": "text",
    "binary": "text",
    "varbinary": "text",
    "numeric": "decimal",
    "decimalv2": "decimal",
    "decimal32": "decimal",
    "decimal64": "decimal",
    "decimal128": "decimal",
    "bool": "boolean",
}


@dataclass(frozen=True, slots=True)
class ColumnDrift:
    """Columns that Hive has not (queries fail), that StarRocks has not, and of another type."""

    not_in_hive: tuple[str, ...] = ()
    not_in_starrocks: tuple[str, ...] = ()
    of_other_type: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.not_in_hive or self.not_in_starrocks or self.of_other_type)

    @property
    def words(self) -> str:
        """What a person reads; empty when nothing drifted."""
        said = (
            ("not in Hive", self.not_in_hive),
            ("not in StarRocks", self.not_in_starrocks),
            ("of another type", self.of_other_type),
        )
        return "; ".join(f"{what}: {', '.join(names)}" for what, names in said if names)


def column_drift(*, starrocks: Columns, hive: Columns) -> ColumnDrift:
    """Compare two tables' (name, type) by name, whatever the order and case."""
    ours = {name.lower(): kind for name, kind in starrocks}
    theirs = {name.lower(): kind for name, kind in hive}
    return ColumnDrift(
        not_in_hive=tuple(sorted(ours.keys() - theirs.keys())),
        not_in_starrocks=tuple(sorted(theirs.keys() - ours.keys())),
        of_other_type=tuple(
            name
            for name in sorted(ours.keys() & theirs.keys())
            if family(ours[name]) != family(theirs[name])
        ),
    )


def family(kind: str) -> str:
    """Return the family of a type's text; a nested type is known by its outermost word only."""
    match = _HEAD.match(kind.lower())
    head = match[1] if match else kind.strip().lower()
    return _FAMILIES.get(head, head)
