"""Schema of the intent and done files beside the data, with their reader and writer.

An intent is the manifest of a backup: with it alone the data can be verified and the metadata built
again. Files are compared by everything that a rename keeps.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from lifecycle.backup.engine.extras import Extras
from portal.connectors.file_status import FileStatus
from portal.lake.errors import DataSafetyError
from portal.lake.paths import LakePath

VERSION = 1
# Intents of drops: from 2 on they hold what belongs to an object beside its structure.
INTENT_VERSION = 2

# Another name and place for a table: database, table, location.
Rename = tuple[str, str, str]


class Outcome(StrEnum):
    """What became of one item of a batch."""

    DROPPED = "DROPPED"
    SKIPPED = "SKIPPED"
    RETURNED = "RETURNED"
    DEFERRED = "DEFERRED"
    NEW_DATA = "NEW_DATA"
    GONE = "GONE"
    RESTORED = "RESTORED"
    UNDONE = "UNDONE"
    CONFLICT = "CONFLICT"
    MOVED = "MOVED"


# Outcomes after which the old data lies in the backup.
IN_BACKUP = frozenset({Outcome.DROPPED, Outcome.NEW_DATA})


@dataclass(frozen=True, slots=True, order=True)
class FileFact:
    """One file or directory of an item; `path` is relative to the item, '' for its root."""

    path: str
    is_dir: bool
    size: int
    mtime_ms: int
    owner: str
    group: str
    mode: int
    acl: tuple[str, ...] = ()

    @classmethod
    def of(cls, status: FileStatus, *, root: LakePath) -> "FileFact":
        """Take from a listing what a rename keeps."""
        return cls(
            path=status.path.path[len(root.path) :].lstrip("/"),
            is_dir=status.is_dir,
            size=status.size,
            mtime_ms=status.mtime_ms,
            owner=status.owner,
            group=status.group,
            mode=status.mode,
            acl=tuple(status.acl),
        )

    def row(self) -> list[Any]:
        """Return the compact JSON form."""
        return [*asdict(self).values()]

    @classmethod
    def from_row(cls, row: Sequence[Any]) -> "FileFact":
        """Read the compact JSON form."""
        path, is_dir, size, mtime_ms, owner, group, mode, acl = row
        return cls(path, is_dir, size, mtime_ms, owner, group, mode, tuple(acl))


@dataclass(frozen=True, slots=True)
class Generation:
    """Which life of a name is meant: a name dropped and made again is another generation."""

    create_time: int
    ddl_time: int | None
    location: str
    data_path: str | None = None


@dataclass(frozen=True, slots=True)
class ItemIntent:
    """One item: where it is, where it goes, and all that is needed to bring it back.

    `extras` is None in intents of before version 2: nobody knows what was lost with the item.
    """

    item: str
    partition: str
    source: str
    generation: Generation
    metadata: str
    files: tuple[FileFact, ...]
    parents: tuple[FileFact, ...]
    facts: dict[str, Any] = field(default_factory=dict)
    extras: Extras | None = None

    @property
    def n_files(self) -> int:
        """How many files the item has."""
        return sum(not fact.is_dir for fact in self.files)

    @property
    def n_bytes(self) -> int:
        """How many bytes the item's files hold."""
        return sum(fact.size for fact in self.files)


@dataclass(frozen=True, slots=True)
class ItemRefused:
    """One approved item that was not as approved when its facts were read again, and why."""

    partition: str
    reason: str


@dataclass(frozen=True, slots=True)
class BatchIntent:
    """At most 100 items of one table; `table_metadata` builds the table where it is gone too.

    `table_extras` is what belongs to the table of partitions, for that same case.

    `refused` items are left alone: nothing of theirs is moved, and there is nothing to settle.
    """

    run: str
    epoch: int
    batch: int
    lake: str
    db: str
    table: str
    table_owner: str
    plan: str
    digest: str
    at: str
    keep_days: int
    table_metadata: str
    items: tuple[ItemIntent, ...]
    refused: tuple[ItemRefused, ...] = ()
    table_extras: Extras | None = None

    @property
    def is_table(self) -> bool:
        """Whether the batch is one whole unpartitioned table."""
        return len(self.items) == 1 and self.items[0].partition == ""

    def to_bytes(self) -> bytes:
        """Return the file's content."""
        items = [
            {
                **{name: getattr(item, name) for name in ("item", "partition", "source")},
                "generation": asdict(item.generation),
                "metadata": item.metadata,
                "files": [fact.row() for fact in item.files],
                "parents": [fact.row() for fact in item.parents],
                "facts": item.facts,
                "extras": item.extras.plain() if item.extras else None,
            }
            for item in self.items
        ]
        rows = {
            "items": items,
            "refused": [asdict(one) for one in self.refused],
            "table_extras": self.table_extras.plain() if self.table_extras else None,
        }
        plain = {name: getattr(self, name) for name in self.__slots__}
        return _dump({"version": INTENT_VERSION, **plain, **rows})

    @classmethod
    def from_bytes(cls, data: bytes) -> "BatchIntent":
        """Read the file's content, of any version; a damaged one is a DataSafetyError."""
        plain = _load(data, known=(VERSION, INTENT_VERSION))
        try:
            items = tuple(
                ItemIntent(
                    **{
                        **item,
                        "extras": Extras.read(item.get("extras")),
                        "generation": Generation(**item["generation"]),
                        "files": tuple(FileFact.from_row(row) for row in item["files"]),
                        "parents": tuple(FileFact.from_row(row) for row in item["parents"]),
                    }
                )
                for item in plain.pop("items")
            )
            refused = tuple(ItemRefused(**one) for one in plain.pop("refused", ()))
            table_extras = Extras.read(plain.pop("table_extras", None))
            return cls(**plain, items=items, refused=refused, table_extras=table_extras)
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(error) from error


@dataclass(frozen=True, slots=True)
class ItemDone:
    """What became of one item, and why."""

    item: str
    partition: str
    outcome: Outcome
    reason: str = ""


@dataclass(frozen=True, slots=True)
class BatchDone:
    """What became of a batch; `writer` is driver or settle."""

    run: str
    epoch: int
    batch: int
    at: str
    writer: str
    items: tuple[ItemDone, ...]
    seconds: float | None = None
    target: dict[str, Any] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """Return the file's content."""
        return _dump({"version": VERSION, **asdict(self)})

    @classmethod
    def from_bytes(cls, data: bytes) -> "BatchDone":
        """Read the file's content; a damaged one is a DataSafetyError."""
        plain = _load(data)
        try:
            items = tuple(
                ItemDone(**{**item, "outcome": Outcome(item["outcome"])})
                for item in plain.pop("items")
            )
            return cls(**plain, items=items)
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(error) from error

    def reason_of(self, item: str) -> str:
        """Return what is said of an item; '' if nothing, or if the file does not name it."""
        return next((done.reason for done in self.items if done.item == item), "")

    def outcome_of(self, item: str) -> Outcome | None:
        """Return an item's outcome; None if the file does not name it."""
        return next((done.outcome for done in self.items if done.item == item), None)


@dataclass(frozen=True, slots=True)
class ItemTarget:
    """Where a restore brings one item."""

    item: str
    partition: str
    target: str


@dataclass(frozen=True, slots=True)
class RestoreIntent:
    """What a restore is about to do with items of one batch; `db.table` is the name they get.

    `undoes` names the restore whose items go back into the backup: then the targets are left.
    `makes_table`: the table of the partitions was gone, so the restore makes it.
    """

    restore: str
    restore_epoch: int
    batch: int
    at: str
    db: str
    table: str
    location: str
    items: tuple[ItemTarget, ...]
    undoes: str = ""
    makes_table: bool = False

    @property
    def rename(self) -> Rename | None:
        """The name and place that differ from those of the backup; None where none do."""
        return (self.db, self.table, self.location) if self.location else None

    def to_bytes(self) -> bytes:
        """Return the file's content."""
        return _dump({"version": VERSION, **asdict(self)})

    @classmethod
    def from_bytes(cls, data: bytes) -> "RestoreIntent":
        """Read the file's content; a damaged one is a DataSafetyError."""
        plain = _load(data)
        try:
            items = tuple(ItemTarget(**item) for item in plain.pop("items"))
            return cls(**plain, items=items)
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(error) from error


def files_of(statuses: Iterable[FileStatus], *, root: LakePath) -> tuple[FileFact, ...]:
    """Return the manifest of a listing, sorted by path."""
    return tuple(sorted(FileFact.of(status, root=root) for status in statuses))


def shortfall(manifest: Iterable[FileFact], found: Iterable[FileFact]) -> list[str]:
    """Name what the manifest has and `found` lacks or holds fewer bytes of."""
    there = {fact.path: fact for fact in found}
    return [
        fact.path or "."
        for fact in manifest
        if fact.path not in there
        or there[fact.path].is_dir != fact.is_dir
        or there[fact.path].size < fact.size
    ]


def _dump(plain: dict[str, Any]) -> bytes:
    return json.dumps(plain, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def _load(data: bytes, *, known: tuple[int, ...] = (VERSION,)) -> dict[str, Any]:
    try:
        plain = json.loads(data)
    except ValueError as error:
        raise _damaged(error) from error
    if not isinstance(plain, dict) or plain.pop("version", None) not in known:
        raise _damaged(ValueError("unknown version"))
    return plain


def _damaged(error: Exception) -> DataSafetyError:
    return DataSafetyError(
        "act.record",
        f"A journal file beside the data cannot be read ({error}); nothing is done with its items. "
        "Inspect it before going on.",
    )
