"""A pipeline as somebody declares it: which tables of which server go where."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import msgspec

from pipelines.cdc.applying.domain.messages import Column
from pipelines.cdc.applying.domain.topics import check_columns, columns_of
from pipelines.cdc.changes.domain.kafka_place import (
    KafkaPlace,
    check_ca,
    check_place,
    is_topic,
)
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


class SourceKind(StrEnum):
    """What a pipeline reads."""

    MYSQL = "MYSQL"
    """The changes of a MySQL or MariaDB server."""
    TOPICS = "TOPICS"
    """Topics of Kafka, whose records are only added."""


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
    """A file of this name, or the environment variable LAKEWARDEN_CDC_PASSWORD_<this>, has it."""
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
    kafka: KafkaPlace | None = None
    """Where the changelog is if it is in Kafka, or the topics of a pipeline of topics."""
    kind: SourceKind = SourceKind.MYSQL
    columns: tuple[Column, ...] = ()
    """Of topics: the declared columns, with the lake's types."""

    def __post_init__(self) -> None:
        if not _NAME.match(self.name):
            raise _refused(
                "name", f"{self.name!r} is no name: use 1-32 of a-z, 0-9 and -, a letter first."
            )
        if self.kind is SourceKind.MYSQL:
            _check_server(self)
        else:
            _check_topics(self)
        if not 0 < len(self.patterns) <= MOST_PATTERNS:
            raise _refused("patterns", f"Name 1-{MOST_PATTERNS} tables or patterns, as shop.*.")
        check_identifier(self.target_db, kind="database")
        self.all_protections()

    def all_protections(self) -> list[Protection]:
        """Return those of all columns; RuleViolation `cdc.protection` for one that is none."""
        texts = (one for columns in self.protections.values() for one in columns.values())
        return [Protection.parse(text) for text in texts]

    @property
    def password_variable(self) -> str:
        """The environment variable that may have it; the prefix keeps other secrets out."""
        return f"LAKEWARDEN_CDC_PASSWORD_{self.password_name}"


def spec_of(data: Mapping[str, Any]) -> PipelineSpec:
    """Read a pipeline from fields; the patterns may be a text of lines.

    Raises:
        RuleViolation: `pipeline.spec`, it is no pipeline.
    """
    patterns, kafka = data["patterns"], data.get("kafka") or {}
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
        kafka=kafka_place(kafka) if kafka.get("servers") else None,
        kind=SourceKind(data.get("kind", SourceKind.MYSQL)),
        columns=_columns_of(data.get("columns") or ()),
    )


def topics_spec(data: Mapping[str, Any]) -> PipelineSpec:
    """Read a pipeline of topics from fields; columns may be a text of lines.

    Raises:
        RuleViolation: `pipeline.spec`, it is no pipeline.
    """
    server = {"host": "", "port": 0, "user": "", "password_name": "", "server_id": 0}
    kinds = {"kind": SourceKind.TOPICS, "changelog": ChangelogKind.DIRECTORY, "ssl_ca": ""}
    return spec_of({**data, **server, **kinds})


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


def _columns_of(given: str | Iterable[Any]) -> tuple[Column, ...]:
    return (
        columns_of(given)
        if isinstance(given, str)
        else msgspec.convert(tuple(given), tuple[Column, ...])
    )


def kafka_place(data: Mapping[str, Any]) -> KafkaPlace:
    """Return the place of topics of Kafka from fields."""
    given = {name: text for name, text in data.items() if text}
    return msgspec.convert({"servers": "", **given}, KafkaPlace)


def _check_server(spec: PipelineSpec) -> None:
    if not _HOST.match(spec.host):
        raise _refused("host", f"{spec.host[:100]!r} is no name or address of a server.")
    if not 0 < spec.port <= _MOST_PORT:
        raise _refused("port", f"{spec.port} is no port: give 1-{_MOST_PORT}.")
    if not 0 < len(spec.user) <= _LONGEST_USER or not spec.user.isprintable():
        raise _refused("user", f"Give a user of 1-{_LONGEST_USER} signs.")
    if not _PASSWORD_NAME.match(spec.password_name):
        raise _refused(
            "password_name",
            "Name the file or the end of the environment variable that has the password, in A-Z, "
            "0-9 and _: SHOP for the file SHOP, or LAKEWARDEN_CDC_PASSWORD_SHOP.",
        )
    if not 0 < spec.server_id <= MOST_SERVER_ID:
        raise _refused(
            "server_id",
            f"A server id is a number of 1-{MOST_SERVER_ID} that no server of its replication has.",
        )
    check_ca(spec.ssl_ca, field="ssl_ca")
    for pattern in spec.patterns:
        _check_pattern(pattern)
    _check_changelog(spec)


def _check_topics(spec: PipelineSpec) -> None:
    if spec.kafka is None:
        raise _refused("kafka_servers", "Give the bootstrap servers of Kafka as host:port.")
    check_ca(spec.kafka.ssl_ca, field="kafka_ssl_ca")
    check_place(spec.kafka, has_topic=False)
    for pattern in spec.patterns:
        if not is_topic(pattern.replace("*", "x")) or not pattern.strip("*"):
            raise _refused("patterns", f"{pattern[:100]!r} names no topics: write orders or app.*.")
    check_columns(spec.columns)


def _check_changelog(spec: PipelineSpec) -> None:
    if spec.changelog is ChangelogKind.DIRECTORY:
        if spec.kafka is not None:
            raise _refused("kafka_servers", "Name brokers only where the changelog is in Kafka.")
        return
    if spec.kafka is None:
        raise _refused("kafka_servers", "Give the bootstrap servers of Kafka as host:port.")
    check_ca(spec.kafka.ssl_ca, field="kafka_ssl_ca")
    check_place(spec.kafka, has_topic=True)


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
