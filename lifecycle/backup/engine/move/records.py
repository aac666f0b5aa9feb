"""Reads the files of a move and sets the new location of a registered object.

A move changes where data lies and what the metastore says of it, nothing else. Its files are those
of a drop (records.py) under names of their own, so that nobody takes a move for a backup. The state
of the metadata is told by generations alone: the one before, the one after, or neither.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from lifecycle.backup.engine.facts import ActItem, generation_of
from lifecycle.backup.engine.journal.reading import JournalBatch
from lifecycle.backup.engine.journal.records import BatchDone, BatchIntent, Generation, ItemIntent
from lifecycle.backup.engine.metastore.registry import partition_name, structs_of
from portal.connectors.file_status import FileSystem
from portal.connectors.metastore import Metastore
from portal.lake.errors import DataSafetyError, NotVisible
from portal.lake.names import TableName
from portal.lake.paths import LakePath

# A table moves with all its partitions or not at all; readers wait while they are pointed again.
MOST_PARTITIONS = 1_000
_CALL = 200
_INTENT = re.compile(r"move\.(\d+)\.intent\.json\Z")

Reader = Callable[[str], LakePath | None]


@dataclass(frozen=True, slots=True)
class MoveItem:
    """One approved item: what it was when the plan was made, and where it shall lie."""

    db: str
    table: str
    partition: str
    source: str
    target: str
    create_time: int
    ddl_time: int | None
    mtime_ms: int
    n_files: int
    n_bytes: int
    n_partitions: int = 0

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> "MoveItem":
        """Read a line of the items file; what else stands in it is kept out."""
        return cls(**{name: row[name] for name in cls.__slots__ if name in row})

    @property
    def token(self) -> ActItem:
        """The facts that must be the same when it is moved; LEVEL and TTL play no part in it."""
        return ActItem(
            db=self.db,
            table=self.table,
            partition=self.partition,
            location=self.source,
            create_time=self.create_time,
            ddl_time=self.ddl_time,
            level=0,
            ttl=0,
            mtime_ms=self.mtime_ms,
            n_files=self.n_files,
            n_bytes=self.n_bytes,
        )


class Registered(StrEnum):
    """What the metastore says of an item: its old place, the new one, some of both, or neither."""

    OLD = "OLD"
    NEW = "NEW"
    MIXED = "MIXED"
    OTHER = "OTHER"


@dataclass(frozen=True, slots=True)
class Covered:
    """A partition that lies in its table's directory and so moves with it."""

    partition: str
    before: Generation
    after: Generation


@dataclass(frozen=True, slots=True)
class Step:
    """One item of a move as its intent tells it."""

    intent: ItemIntent
    target: LakePath
    after: Generation
    covered: tuple[Covered, ...]

    @classmethod
    def of(cls, intent: ItemIntent) -> "Step":
        """Read an item of an intent; a damaged one is a DataSafetyError."""
        try:
            return cls(
                intent,
                LakePath.parse(intent.facts["target"]),
                Generation(**intent.facts["after"]),
                tuple(
                    Covered(
                        one["partition"],
                        Generation(**one["before"]),
                        Generation(**one["after"]),
                    )
                    for one in intent.facts["covered"]
                ),
            )
        except (KeyError, TypeError) as error:
            raise DataSafetyError(
                "act.record", f"The intent of a move cannot be read ({error}); inspect it by hand."
            ) from error

    @property
    def source(self) -> LakePath:
        """The place that the item leaves."""
        return LakePath.parse(self.intent.source)

    def named_in(self, structs: Mapping[str, Any]) -> list[Any]:
        """Return those of the metastore's structures that are this item, or move with it."""
        names = (self.intent.partition, *(one.partition for one in self.covered))
        return [structs[name] for name in names if name in structs]

    def registered(self, structs: Mapping[str, Any]) -> Registered:
        """Say what the metastore's structures (the table's under '') tell of this item."""
        found = _which(structs.get(self.intent.partition), self.intent.generation, self.after)
        if found is Registered.OTHER:
            return found
        parts = {_which(structs.get(one.partition), one.before, one.after) for one in self.covered}
        # A covered partition that somebody dropped or changed meanwhile is theirs.
        return found if parts <= {found, Registered.OTHER} else Registered.MIXED


def intent_facts(
    after: Generation, covered: Sequence[Covered], *, target: LakePath
) -> dict[str, Any]:
    """Return what an intent keeps of a move beside what it keeps of a drop."""
    return {
        "target": str(target),
        "after": asdict(after),
        "covered": [asdict(one) for one in covered],
    }


def placed(
    generation: Generation, source: LakePath, target: LakePath, *, read: Reader
) -> Generation:
    """Return a generation with each location at or under `source` moved under `target`.

    A text that points elsewhere (Spark's placeholder) stays; how a text names its file system too.
    """

    def moved(text: str) -> str:
        path = read(text)
        plain = text.rstrip("/")
        if path is None or not path.is_at_or_under(source):
            return text
        new = target.path + path.path[len(source.path) :]
        if plain.endswith(path.path):
            return plain[: -len(path.path)] + new
        return str(LakePath(target.scheme, target.authority, new))

    data_path = generation.data_path
    return replace(
        generation,
        location=moved(generation.location),
        data_path=moved(data_path) if data_path else data_path,
    )


def point(struct: Any, generation: Generation) -> Any:
    """Return a Thrift Table or Partition the place of a generation; all else stays as it is."""
    struct.sd.location = generation.location
    if generation.data_path is not None:
        struct.sd.serdeInfo.parameters["path"] = generation.data_path
    return struct


def partitions_in(
    metastore: Metastore, name: TableName, table: Any, source: LakePath, *, read: Reader
) -> list[Any]:
    """Return the partitions of a table whose data lies in its directory, and so moves with it."""
    if not table.partitionKeys:
        return []
    structs = metastore.partitions_by_names(name, metastore.partition_names(name))
    return [
        struct
        for struct in structs
        if (path := read(struct.sd.location or "")) and path.is_at_or_under(source)
    ]


def covered(
    table: Any, structs: Iterable[Any], source: LakePath, target: LakePath, *, read: Reader
) -> tuple[Covered, ...]:
    """Say of partitions that move with their table where they are and will be registered."""
    stand = [(partition_name(table, struct), generation_of(struct)) for struct in structs]
    return tuple(
        Covered(name, before, placed(before, source, target, read=read)) for name, before in stand
    )


def structs_for(
    metastore: Metastore, name: TableName, steps: Sequence[Step]
) -> dict[str, dict[str, Any]]:
    """Return by item what is registered of it and of what moves with it; the table is under ''."""
    table = metastore.table_or_none(name)
    found: dict[str, dict[str, Any]] = {}
    plain = [step.intent.partition for step in steps if step.intent.partition]
    own = structs_of(metastore, name, table, plain) if plain else {}
    for step in steps:
        if step.intent.partition:
            found[step.intent.item] = own
            continue
        names = [one.partition for one in step.covered]
        parts = structs_of(metastore, name, table, names) if names else {}
        found[step.intent.item] = {**parts, **({"": table} if table is not None else {})}
    return found


def repoint(
    metastore: Metastore,
    name: TableName,
    steps: Sequence[Step],
    *,
    forward: bool,
    before_call: Callable[[], None] = lambda: None,
) -> None:
    """Point what stands at the one place to the other; again it changes nothing.

    Only what is registered exactly as the intent says is changed, DDL times and statistics stay.
    """
    structs = structs_for(metastore, name, steps)
    table: Any = None
    partitions: list[Any] = []
    for step in steps:
        pairs = [(step.intent.partition, step.intent.generation, step.after)]
        pairs += [(one.partition, one.before, one.after) for one in step.covered]
        for partition, old, new in pairs:
            struct = structs[step.intent.item].get(partition)
            wrong, right = (old, new) if forward else (new, old)
            if struct is None or generation_of(struct) != wrong:
                continue
            if partition:
                partitions.append(point(struct, right))
            else:
                table = point(struct, right)
    if table is not None:
        before_call()
        metastore.alter_table_keeping_times(name, table)
    for start in range(0, len(partitions), _CALL):
        before_call()
        metastore.alter_partitions(name, partitions[start : start + _CALL])


def move_intent_name(batch: int) -> str:
    """Name the file that says what a batch of moves is about to do."""
    return f"move.{batch}.intent.json"


def move_done_name(batch: int) -> str:
    """Name the file that says what became of a batch of moves."""
    return f"move.{batch}.done.json"


def move_batches(fs: FileSystem, directory: LakePath) -> Iterator[JournalBatch]:
    """Read the batches of a directory of moves, in order; none where nothing is."""
    try:
        names = fs.names(directory)
    except NotVisible:
        return
    for number in sorted(int(found[1]) for found in map(_INTENT.match, names) if found):
        data = fs.read(directory.child(move_intent_name(number)))
        done = directory.child(move_done_name(number))
        yield JournalBatch(
            directory,
            BatchIntent.from_bytes(data),
            BatchDone.from_bytes(fs.read(done)) if fs.status(done) else None,
            hashlib.sha256(data).hexdigest(),
        )


def _which(struct: Any, before: Generation, after: Generation) -> Registered:
    if struct is None:
        return Registered.OTHER
    found = generation_of(struct)
    if found == before:
        return Registered.OLD
    return Registered.NEW if found == after else Registered.OTHER
