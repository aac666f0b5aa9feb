"""Names of databases, tables and partitions: their grammar, quoting and Hive's %XX escapes.

A name built here may stand in SQL, in a Thrift call or in a directory name; a bare string may not.
The set of escaped characters is Hive's (FileUtils.charToEscape).
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from portal.lake.errors import RuleViolation
from portal.lake.ids import LakeId

DEFAULT_PARTITION = "__HIVE_DEFAULT_PARTITION__"

_IDENTIFIER = re.compile(r"[a-z0-9_]{1,128}\Z")
_ESCAPED = frozenset([*map(chr, range(1, 32)), *"\"#%'*/:=?\\{[]^", "\x7f"])
_HEX_PAIR = re.compile(r"%([0-9A-Fa-f]{2})")


def check_identifier(value: str, *, kind: str) -> str:
    """Return `value` if it is a name that the portal acts on, else raise RuleViolation."""
    if not _IDENTIFIER.match(value):
        raise RuleViolation(
            "name.grammar",
            f"{kind} name {value!r} is not 1-128 of a-z, 0-9 and _. "
            "The portal shows such a name but does not act on it; rename it to have it governed.",
            kind=kind,
            value=value,
        )
    return value


def quoted(identifier: str) -> str:
    """Quote an identifier for Spark SQL and Hive with back quotes."""
    return "`" + identifier.replace("`", "``") + "`"


@dataclass(frozen=True, slots=True, order=True)
class TableName:
    """A table of one lake."""

    lake: LakeId
    db: str
    table: str

    def __post_init__(self) -> None:
        check_identifier(self.db, kind="database")
        check_identifier(self.table, kind="table")

    def __str__(self) -> str:
        return f"{self.db}.{self.table}"

    @property
    def sql(self) -> str:
        """The name as it stands in Spark SQL."""
        return f"{quoted(self.db)}.{quoted(self.table)}"

    def item(self, partition: str) -> str:
        """Return `db.table/partition` as people read it; `db.table` for the table itself ('')."""
        return f"{self}/{partition}" if partition else str(self)

    @classmethod
    def parse(cls, lake: LakeId, text: str) -> "TableName":
        """Read `db.table`."""
        db, dot, table = text.partition(".")
        if not dot:
            raise RuleViolation("name.table", f"{text!r} is not of the form db.table.", value=text)
        return cls(lake, db, table)


def escape_path_name(value: str) -> str:
    """Escape a key or value as Hive does for directory and partition names."""
    return "".join(f"%{ord(c):02X}" if c in _ESCAPED else c for c in value)


def unescape_path_name(value: str) -> str:
    """Undo `escape_path_name`; a % without two hex digits stands for itself, as in Hive."""
    return _HEX_PAIR.sub(lambda pair: chr(int(pair.group(1), 16)), value)


@dataclass(frozen=True, slots=True, order=True)
class PartitionName:
    """The (key, value) pairs of a partition in key order; `values[i]` is None for NULL or empty.

    Hive stores NULL and the empty string alike, as `__HIVE_DEFAULT_PARTITION__`.
    """

    keys: tuple[str, ...]
    values: tuple[str | None, ...]

    def __post_init__(self) -> None:
        if not self.keys or len(self.keys) != len(self.values):
            raise RuleViolation(
                "name.partition",
                f"A partition needs one value a key; got {self.keys} and {self.values}.",
            )

    @classmethod
    def parse(cls, text: str) -> "PartitionName":
        """Read Hive's `k=v/k=v` form with its %XX escapes."""
        keys: list[str] = []
        values: list[str | None] = []
        for part in text.split("/"):
            key, equals, value = part.partition("=")
            if not equals or not key:
                raise RuleViolation(
                    "name.partition", f"{text!r} is not a partition name like dt=2026-11-21/h=03."
                )
            keys.append(unescape_path_name(key))
            values.append(None if value in ("", DEFAULT_PARTITION) else unescape_path_name(value))
        return cls(tuple(keys), tuple(values))

    @classmethod
    def stored(cls, keys: Sequence[str], values: Iterable[str]) -> "PartitionName":
        """Name a partition by its values as the metastore stores them; it may store NULL as ''."""
        read = (None if value in ("", DEFAULT_PARTITION) else value for value in values)
        return cls(tuple(keys), tuple(read))

    @property
    def metastore_values(self) -> list[str]:
        """The values as the metastore stores them (unescaped; NULL as Hive's default name)."""
        return [DEFAULT_PARTITION if value is None else value for value in self.values]

    def __str__(self) -> str:
        return "/".join(
            f"{escape_path_name(key)}="
            + (DEFAULT_PARTITION if value is None else escape_path_name(value))
            for key, value in zip(self.keys, self.values, strict=True)
        )
