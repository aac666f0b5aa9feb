"""Facts of a Hudi table inspection: settings, timeline, plans, file slices and log blocks.

The looking job fills this from Hudi's own metadata and log readers, without judging; it is kept as
plain JSON, so neither Spark nor Django is needed to read it. Instants are named as Hudi names them:
17 digits, later ones sort behind earlier ones. Their digits are in the time zone of the timeline,
so every time that anything is reckoned with stands beside them as an aware UTC time.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Self

from portal.lake.errors import RuleViolation

PROPERTIES = (
    "compaction.async.enabled",
    "hoodie.clean.automatic",
    "hoodie.clean.async.enabled",
    "hoodie.clean.failed.writes.policy",
    "hoodie.cleaner.policy.failed.writes",
    "hoodie.client.heartbeat.interval_in_ms",
    "hoodie.client.heartbeat.tolerable.misses",
    "hoodie.clustering.async.enabled",
    "hoodie.clustering.inline",
    "hoodie.clustering.schedule.inline",
    "hoodie.compact.inline",
    "hoodie.compact.inline.max.delta.commits",
    "hoodie.compact.schedule.inline",
    "hoodie.datasource.compaction.async.enable",
    "hoodie.metadata.enable",
    "hoodie.partition.ttl.inline",
    "hoodie.partition.ttl.strategy.days.retain",
    "hoodie.partition.ttl.strategy.type",
    "hoodie.table.metadata.partitions",
    "hoodie.write.concurrency.mode",
    "hoodie.write.lock.provider",
)
"""Which of a table's properties are kept, from hoodie.properties and the metastore together."""


class TableType(StrEnum):
    """How a table takes updates."""

    COPY_ON_WRITE = "COPY_ON_WRITE"
    MERGE_ON_READ = "MERGE_ON_READ"


class Action(StrEnum):
    """What an instant does; those that end are named as Hudi's timeline names them."""

    COMMIT = "commit"  # of a writer to a copy-on-write table, or a compaction that is completed
    DELTA_COMMIT = "deltacommit"
    REPLACE_COMMIT = "replacecommit"  # an overwrite, or a clustering that is completed
    COMPACTION = "compaction"
    LOG_COMPACTION = "logcompaction"
    CLUSTERING = "clustering"
    CLEAN = "clean"
    ROLLBACK = "rollback"
    RESTORE = "restore"
    SAVEPOINT = "savepoint"
    INDEXING = "indexing"
    OTHER = "other"  # one that this list does not know


class InstantState(StrEnum):
    """How far an instant is."""

    REQUESTED = "requested"
    INFLIGHT = "inflight"
    COMPLETED = "completed"


class BlockKind(StrEnum):
    """What a block of a log file holds."""

    DATA = "data"
    DELETE = "delete"
    COMMAND = "command"  # rolls an earlier block back
    CDC = "cdc"
    CORRUPT = "corrupt"


class BlockState(StrEnum):
    """What the timeline says of the instant that wrote a block."""

    COMPLETED = "completed"  # in the active or the archived timeline
    PENDING = "pending"  # requested or inflight
    NOWHERE = "nowhere"  # in neither timeline
    CORRUPT = "corrupt"  # no instant can be read


@dataclass(frozen=True, slots=True, kw_only=True)
class HudiTable:
    """Its settings; `faults` says in words what of the timeline could not be read."""

    location: str
    table_type: TableType
    version: int  # hoodie.table.version: 6 is 0.14 and 0.15, 8 is 1.0, 9 is 1.1 and 1.2
    layout_version: int  # hoodie.timeline.layout.version: 1 is 0.x, 2 is 1.x
    partition_fields: tuple[str, ...] = ()
    record_key: str = ""
    is_metadata_on: bool = False
    properties: Mapping[str, str] = field(default_factory=dict)
    faults: tuple[str, ...] = ()

    @property
    def is_partitioned(self) -> bool:
        """Whether it has partitions."""
        return bool(self.partition_fields)

    def flag(self, name: str, *, default: bool) -> bool:
        """Read a property that is true or false; what is neither is taken for the default."""
        said = self.properties.get(name, "").strip().lower()
        return said == "true" if said in {"true", "false"} else default


@dataclass(frozen=True, slots=True, kw_only=True)
class Instant:
    """One instant of the active timeline, or of the archived one as far as it was read.

    `heartbeat_at` is when its writer was last heard of, None where no heartbeat is kept.
    """

    instant: str
    action: Action
    state: InstantState
    requested_at: datetime
    inflight_at: datetime | None = None
    completed: str | None = None  # the completion time as Hudi writes it
    completed_at: datetime | None = None
    heartbeat_at: datetime | None = None
    is_archived: bool = False
    operation: str = ""  # UPSERT, INSERT, CLUSTER; as the commit's metadata says
    n_operations: int = 0  # files written, or operations of a plan
    by: str = ""  # who wrote it, where its metadata says so

    @property
    def is_pending(self) -> bool:
        """Whether it is not completed."""
        return self.state is not InstantState.COMPLETED

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Read what `as_dict` gave."""
        return cls(
            **{
                **stored,
                "action": Action(stored["action"]),
                "state": InstantState(stored["state"]),
                "requested_at": datetime.fromisoformat(stored["requested_at"]),
                "inflight_at": _at(stored.get("inflight_at")),
                "completed_at": _at(stored.get("completed_at")),
                "heartbeat_at": _at(stored.get("heartbeat_at")),
            }
        )


@dataclass(frozen=True, slots=True, order=True)
class FileGroupId:
    """A file group: its partition's path ('' where there are none) and its file id."""

    partition: str
    file_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingPlan:
    """A plan of compaction, log compaction or clustering that is not completed."""

    instant: str
    action: Action
    requested_at: datetime
    is_begun: bool = False
    file_groups: tuple[FileGroupId, ...] = ()
    log_bytes: int = 0
    base_bytes: int = 0

    @property
    def partitions(self) -> tuple[str, ...]:
        """The partitions that it touches, in order."""
        return tuple(sorted({one.partition for one in self.file_groups}))

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Read what `as_dict` gave."""
        return cls(
            **{
                **stored,
                "action": Action(stored["action"]),
                "requested_at": datetime.fromisoformat(stored["requested_at"]),
                "file_groups": tuple(FileGroupId(**one) for one in stored["file_groups"]),
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSlice:
    """The latest slice of a file group: its base file, None where it has none, and its logs."""

    group: FileGroupId
    base_instant: str
    base_bytes: int | None = None
    n_logs: int = 0
    log_bytes: int = 0
    oldest_log_instant: str | None = None
    newest_log_instant: str | None = None
    has_earlier_base: bool = False  # an earlier slice of the group has, or had, a base file

    @property
    def is_log_only(self) -> bool:
        """Whether it has logs and no base file: normal in a file group that is new."""
        return self.base_bytes is None and self.n_logs > 0

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Read what `as_dict` gave."""
        return cls(**{**stored, "group": FileGroupId(**stored["group"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncompacted:
    """A completed delta commit of which something stands only in logs of the latest slices."""

    instant: str
    completed_at: datetime
    n_file_groups: int = 0
    log_bytes: int = 0

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Read what `as_dict` gave."""
        return cls(**{**stored, "completed_at": datetime.fromisoformat(stored["completed_at"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class LogBlock:
    """A block of a log file that is not simply one of a completed instant, as evidence.

    Of a corrupt one `instant` is that in its file's name, `n_bytes` is what Hudi's reader skipped,
    and `detail` what it made of it.
    """

    group: FileGroupId
    log_file: str
    position: int
    kind: BlockKind
    state: BlockState
    instant: str | None = None
    n_bytes: int = 0
    detail: str = ""

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Read what `as_dict` gave."""
        return cls(
            **{
                **stored,
                "group": FileGroupId(**stored["group"]),
                "kind": BlockKind(stored["kind"]),
                "state": BlockState(stored["state"]),
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateKey:
    """A record key that stands in more than one file group of a partition."""

    key: str
    partition: str
    file_ids: tuple[str, ...]

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Read what `as_dict` gave."""
        return cls(**{**stored, "file_ids": tuple(stored["file_ids"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class HudiInspection:
    """All that one look found, at `looked_at`.

    Where `has_read_logs` is false the blocks were not looked at, which is not "none is bad"; so it
    is with `has_read_keys` and duplicate keys. `archived_to` is the newest instant that is in the
    archived timeline.
    """

    inspected_at: datetime
    table: HudiTable
    instants: tuple[Instant, ...] = ()
    archived_to: str | None = None
    plans: tuple[PendingPlan, ...] = ()
    slices: tuple[FileSlice, ...] = ()
    uncompacted: tuple[Uncompacted, ...] = ()
    blocks: tuple[LogBlock, ...] = ()
    has_read_logs: bool = False
    duplicates: tuple[DuplicateKey, ...] = ()
    has_read_keys: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return the form in which it is stored: plain JSON."""
        return {one.name: plain(getattr(self, one.name)) for one in fields(self)}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Read what `as_dict` gave.

        Raises:
            RuleViolation: `hudi.look`, it is of another form.
        """
        try:
            return cls(
                **{
                    **stored,
                    "inspected_at": datetime.fromisoformat(stored["inspected_at"]),
                    "table": _table(stored["table"]),
                    "instants": tuple(map(Instant.from_dict, stored["instants"])),
                    "plans": tuple(map(PendingPlan.from_dict, stored["plans"])),
                    "slices": tuple(map(FileSlice.from_dict, stored["slices"])),
                    "uncompacted": tuple(map(Uncompacted.from_dict, stored["uncompacted"])),
                    "blocks": tuple(map(LogBlock.from_dict, stored["blocks"])),
                    "duplicates": tuple(map(DuplicateKey.from_dict, stored["duplicates"])),
                }
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise RuleViolation(
                "hudi.look",
                f"What was stored of an inspection at a Hudi table cannot be read ({error!r}): "
                "inspect the table again.",
            ) from error


def plain(value: object) -> Any:
    """Return a fact, or a sequence of facts, in plain JSON; `from_dict` of its class reads it."""
    if is_dataclass(value):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value


def _table(stored: Mapping[str, Any]) -> HudiTable:
    return HudiTable(
        **{
            **stored,
            "table_type": TableType(stored["table_type"]),
            "partition_fields": tuple(stored["partition_fields"]),
            "faults": tuple(stored["faults"]),
        }
    )


def _at(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
