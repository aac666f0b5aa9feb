"""A pipeline as somebody declares it: which tables of which server go where."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pipelines.cdc.protecting.domain.protections import Protection
from portal.lake.errors import RuleViolation
from portal.lake.names import check_identifier

MOST_PATTERNS = 200
MOST_SERVER_ID = (1 << 32) - 1
_NAME = re.compile(r"[a-z][a-z0-9-]{0,31}\Z")
_PASSWORD_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,63}\Z")
_HOST = re.compile(r"[A-Za-z0-9_:]([A-Za-z0-9_.:-]{0,251}[A-Za-z0-9_])?\Z")
_UNSAFE = re.compile(r"[^a-z0-9_]")
_LONGEST_USER = 80
_LONGEST_PATTERN = 200
_MOST_PORT = 65535


class TableType(StrEnum):
    """How Hudi keeps a table."""

    MERGE_ON_READ = "MERGE_ON_READ"
    COPY_ON_WRITE = "COPY_ON_WRITE"


class ChangelogKind(StrEnum):
    """Where a pipeline's changelog is."""

    DIRECTORY = "DIRECTORY"
    KAFKA = "KAFKA"


@dataclass(frozen=True, slots=True)
class PipelineSpec:
    """What a pipeline is meant to be; built, it holds the rules that need no server."""

    name: str
    lake: str
    host: str
    port: int
    user: str
    password_name: str
    """The environment variable LAKEWARDEN_CDC_PASSWORD_<this> holds the password."""
    server_id: int
    patterns: tuple[str, ...]
    """`database.table`, with * for any signs: `shop.*`."""
    target_db: str
    table_type: TableType = TableType.MERGE_ON_READ
    changelog: ChangelogKind = ChangelogKind.DIRECTORY
    ssl_ca: str = ""
    protections: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Protection by column, by `database.table`; it holds from when a table is first seen."""
    partitions: Mapping[str, str] = field(default_factory=dict)
    """Column by which the lake's table is partitioned, by `database.table`; likewise."""

    def __post_init__(self) -> None:
        if not _NAME.match(self.name):
            raise _refused(
                "name", f"{self.name!r} is no name: use 1-32 of a-z, 0-9 and -, a letter first."
            )
        if not _HOST.match(self.host):
            raise _refused("host", f"{self.host[:100]!r} is no name or address of a server.")
        if not 0 < self.port <= _MOST_PORT:
            raise _refused("port", f"{self.port} is no port: give 1-{_MOST_PORT}.")
        if not 0 < len(self.user) <= _LONGEST_USER or not self.user.isprintable():
            raise _refused("user", f"Give a user of 1-{_LONGEST_USER} signs.")
        if not _PASSWORD_NAME.match(self.password_name):
            raise _refused(
                "password_name",
                "Name the end of the environment variable that holds the password, in A-Z, 0-9 and "
                "_: SHOP for LAKEWARDEN_CDC_PASSWORD_SHOP.",
            )
        if not 0 < self.server_id <= MOST_SERVER_ID:
            raise _refused(
                "server_id",
                f"A server id is a number of 1-{MOST_SERVER_ID} that no server of its replication "
                "has.",
            )
        if "\x00" in self.ssl_ca or (self.ssl_ca and not self.ssl_ca.startswith("/")):
            raise _refused("ssl_ca", "Give an absolute path of a certificate, or nothing.")
        _check_patterns(self.patterns)
        check_identifier(self.target_db, kind="database")
        for text in (one for columns in self.protections.values() for one in columns.values()):
            Protection.parse(text)

    @property
    def password_variable(self) -> str:
        """The environment variable that holds the password; the prefix keeps other secrets out."""
        return f"LAKEWARDEN_CDC_PASSWORD_{self.password_name}"


def spec_of(data: Mapping[str, Any]) -> PipelineSpec:
    """Read a pipeline from fields; the patterns may be a text of lines.

    Raises:
        RuleViolation: `pipeline.spec`, it is no pipeline.
    """
    patterns = data["patterns"]
    return PipelineSpec(
        name=data["name"],
        lake=data["lake"],
        host=data["host"],
        port=data["port"],
        user=data["user"],
        password_name=data["password_name"],
        server_id=data["server_id"],
        patterns=patterns_of(patterns) if isinstance(patterns, str) else tuple(patterns),
        target_db=data["target_db"],
        table_type=TableType(data["table_type"]),
        changelog=ChangelogKind(data["changelog"]),
        ssl_ca=data["ssl_ca"],
        protections=data.get("protections", {}),
        partitions=data.get("partitions", {}),
    )


def patterns_of(text: str) -> tuple[str, ...]:
    """Return the patterns of a text, one a line or between commas, each once."""
    parts = (part.strip() for part in text.replace(",", "\n").splitlines())
    return tuple(dict.fromkeys(part for part in parts if part))


def protections_of(text: str) -> dict[str, dict[str, str]]:
    """Read protections of a text: one a line, `shop.users.phone = encrypted:PII`.

    Raises:
        RuleViolation: `pipeline.spec`, with the line.
    """
    found: dict[str, dict[str, str]] = {}
    for left, right in _pairs(text, "protections"):
        table, _, column = left.rpartition(".")
        if "." not in table or not column:
            raise _refused("protections", f"{left[:100]!r} is no column: write db.table.column.")
        found.setdefault(table, {})[column] = right
    return found


def columns_protected(text: str) -> dict[str, str]:
    """Read protections of one table's columns: one a line, `phone = encrypted:PII`.

    Raises:
        RuleViolation: `pipeline.spec`, with the line.
    """
    return dict(_pairs(text, "protections"))


def protection_text(method: str, key: str) -> str:
    """Return a protection of a method and the name of a key as one text."""
    return f"{method}:{key}" if key else method


def partitions_of(text: str) -> dict[str, str]:
    """Read partition columns of a text: one a line, `shop.orders = created`.

    Raises:
        RuleViolation: `pipeline.spec`, with the line.
    """
    return dict(_pairs(text, "partitions"))


def target_name(db: str, table: str, *, taken: Iterable[str]) -> str:
    """Return the lake's name of a source's table: its own, made safe, and unlike those taken.

    Hive's names have no capitals; tables of two databases may share a name, and then the later one
    gets its database's in front.
    """
    used, plain = set(taken), safe_name(table)
    names = [plain, f"{safe_name(db)}_{plain}"[:128]]
    free = next((name for name in names if name not in used), "")
    number = 2
    while not free or free in used:
        free, number = f"{names[1][:120]}_{number}", number + 1
    return free


def safe_name(name: str) -> str:
    """Return a name of the lake for one of a source: small letters, digits and _."""
    return _UNSAFE.sub("_", name.lower())[:128] or "_"


def _pairs(text: str, field: str) -> list[tuple[str, str]]:
    pairs = []
    for line in filter(None, map(str.strip, text.splitlines())):
        left, _, right = (part.strip() for part in line.rpartition("="))
        if not left or not right:
            raise _refused(field, f"{line[:100]!r} is no line of this: write name = what.")
        pairs.append((left, right))
    return pairs


def _check_patterns(patterns: tuple[str, ...]) -> None:
    if not 0 < len(patterns) <= MOST_PATTERNS:
        raise _refused("patterns", f"Name 1-{MOST_PATTERNS} tables or patterns, as shop.*.")
    for pattern in patterns:
        _check_pattern(pattern)


def _check_pattern(pattern: str) -> None:
    db, dot, table = pattern.partition(".")
    if not (dot and db and table) or len(pattern) > _LONGEST_PATTERN or not pattern.isprintable():
        raise _refused(
            "patterns", f"{pattern[:100]!r} is no pattern of tables: write database.table."
        )
    if db == "*":
        raise _refused("patterns", f"{pattern!r} names all databases: name each, as shop.*.")


def _refused(field: str, message: str) -> RuleViolation:
    return RuleViolation("pipeline.spec", message, field=field)
