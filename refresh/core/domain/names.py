"""Names of tables in StarRocks, and their form in a statement.

A table of a Hive catalog has three parts. One that hangs on a resource (before catalogs) is a table
of StarRocks' own with a name of its own; its catalog is empty here.
"""

import re
from dataclasses import dataclass

from portal.lake.errors import RuleViolation

_SLUG = re.compile(r"[a-z][a-z0-9-]{0,31}\Z")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_LONGEST = 256


@dataclass(frozen=True, slots=True, order=True)
class ClusterId:
    """The portal's short name of one StarRocks cluster, for example `bi`."""

    value: str

    def __post_init__(self) -> None:
        if not _SLUG.match(self.value):
            raise RuleViolation(
                "cluster.name",
                f"'{self.value}' is not a cluster name. Use 1-32 of a-z, 0-9 and -, a letter "
                "first.",
                value=self.value,
            )

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True, order=True)
class ExternalTable:
    """A table as one cluster names it; `catalog` is empty for a table on a resource."""

    cluster: ClusterId
    catalog: str
    db: str
    table: str

    def __post_init__(self) -> None:
        if self.catalog:
            check_name(self.catalog, kind="catalog")
        check_name(self.db, kind="database")
        check_name(self.table, kind="table")

    def __str__(self) -> str:
        return ".".join(part for part in (self.catalog, self.db, self.table) if part)

    @property
    def sql(self) -> str:
        """The name as it stands in a statement of StarRocks."""
        parts = (part for part in (self.catalog, self.db, self.table) if part)
        return ".".join(quoted(part) for part in parts)


def check_name(value: str, *, kind: str) -> str:
    """Return a name that can be written in a statement, else raise RuleViolation.

    StarRocks takes back quotes out of a quoted name, also doubled ones, so none can be written.
    """
    if not value or len(value) > _LONGEST or "`" in value or _CONTROL.search(value):
        raise RuleViolation(
            "starrocks.name",
            f"StarRocks cannot be given the {kind} name {value[:_LONGEST]!r}: it must hold 1-256 "
            "signs, none of them a back quote or a control character. Rename it to have it "
            "refreshed.",
            kind=kind,
            value=value,
        )
    return value


def quoted(name: str) -> str:
    """Quote a name for StarRocks."""
    return f"`{check_name(name, kind='quoted')}`"


def literal(text: str) -> str:
    """Write a string literal: back slashes and quotes escaped, control characters refused."""
    if _CONTROL.search(text):
        raise RuleViolation(
            "starrocks.text",
            f"{text!r} holds a control character; StarRocks cannot be given it.",
            value=text,
        )
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
