"""Reads, at drafting, the metastore entries and files that a relocation plan would move.

Reads only. What it finds goes into the plan's file, so that the run can tell whether anything has
changed since people approved it.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from lifecycle.backup.engine.facts import being_written, generation_of, list_here
from lifecycle.backup.engine.metastore.registry import structs_of
from lifecycle.backup.engine.move.records import MOST_PARTITIONS, MoveItem
from lifecycle.drop.domain.refusal import Name
from lifecycle.relocation.domain.moves import Immovable, Move
from lifecycle.relocation.domain.refusal import NotNow
from portal.connectors.file_status import FileStatus
from portal.connectors.filesystem import FileSystem, open_file_system
from portal.connectors.lake_config import LakeConfig
from portal.connectors.metastore import Metastore
from portal.lake.errors import RuleViolation
from portal.lake.formats import Unsupported, judge_table, registered_location
from portal.lake.names import TableName
from portal.lake.paths import LakePath
from portal.lake.readiness import is_ready

_LISTED_AT_ONCE = 16

Seen = MoveItem | NotNow | Immovable


@dataclass(frozen=True, slots=True)
class Looker:
    """Looks at moves through one connection to the metastore."""

    config: LakeConfig
    metastore: Metastore

    def look(self, moves: Sequence[Move]) -> Iterator[tuple[Move, Seen]]:
        """Yield each move with its line in the plan's file, or why it is left out."""
        for key, group in groupby(moves, key=lambda move: (move.name.db, move.name.table)):
            of_table = list(group)
            registered = dict(self._registered(key, of_table))
            for start in range(0, len(of_table), _LISTED_AT_ONCE):
                part = of_table[start : start + _LISTED_AT_ONCE]
                yield from self._with_files(part, registered)

    def _registered(
        self, key: tuple[str, str], moves: Sequence[Move]
    ) -> Iterator[tuple[Name, Any]]:
        """Yield the metastore's structure of each move, with how many partitions, or a reason."""
        try:
            name = TableName(self.config.lake, *key)
        except RuleViolation:
            yield from ((move.name, Immovable.UNSUPPORTED) for move in moves)
            return
        table = self.metastore.table_or_none(name)
        reason = NotNow.CHANGED if table is None else _unsupported(table)
        wanted = [move.name.partition for move in moves if move.name.partition]
        structs = structs_of(self.metastore, name, table, wanted) if wanted else {}
        for move in moves:
            struct = structs.get(move.name.partition) if move.name.partition else table
            yield move.name, reason or self._judged(move, name, table, struct)

    def _judged(self, move: Move, name: TableName, table: Any, struct: Any) -> Any:
        if struct is None or self._location(table, move, struct) != move.source:
            return NotNow.CHANGED
        along: list[Any] = []
        if not move.name.partition and table.partitionKeys:
            names = self.metastore.partition_names(name)
            if len(names) > MOST_PARTITIONS:
                return NotNow.TOO_MANY_PARTITIONS
            along = self.metastore.partitions_by_names(name, names)
        if not all(is_ready(one.parameters or {}) for one in (struct, *along)):
            return NotNow.UNREADY
        return struct, len(along)

    def _location(self, table: Any, move: Move, struct: Any) -> LakePath | None:
        text = registered_location(table, struct if move.name.partition else None)
        try:
            return self.config.path(text) if text else None
        except RuleViolation:
            return None

    def _with_files(
        self, moves: Sequence[Move], registered: dict[Name, Any]
    ) -> Iterator[tuple[Move, Seen]]:
        good = [move for move in moves if isinstance(registered[move.name], tuple)]
        listings: dict[LakePath, list[FileStatus]] = {}
        if good:
            fs = open_file_system(good[0].source, config=self.config)
            same = [move.source for move in good if move.source.same_file_system(good[0].source)]
            listings = list_here(fs)(same)
        for move in moves:
            found = registered[move.name]
            if isinstance(found, tuple):
                fs = open_file_system(move.source, config=self.config)
                statuses = listings.get(move.source) or list_here(fs)([move.source]).get(
                    move.source, []
                )
                yield move, _line(move, *found, statuses=statuses, fs=fs)
            else:
                yield move, found


def _unsupported(table: Any) -> Immovable | None:
    return Immovable.UNSUPPORTED if isinstance(judge_table(table), Unsupported) else None


def _line(
    move: Move, struct: Any, n_partitions: int, *, statuses: list[FileStatus], fs: FileSystem
) -> Seen:
    if not statuses or not statuses[0].is_dir:
        return NotNow.MISSING_DIRECTORY
    inside = (status.path.path[len(move.source.path) :] for status in statuses)
    if being_written(inside):
        return NotNow.BEING_WRITTEN
    if fs.status(move.target) is not None:
        return NotNow.TARGET_EXISTS
    if not move.name.partition and fs.status(move.target.parent) is None:
        return NotNow.TARGET_PARENT
    generation = generation_of(struct)
    return MoveItem(
        db=move.name.db,
        table=move.name.table,
        partition=move.name.partition,
        source=str(move.source),
        target=str(move.target),
        create_time=generation.create_time,
        ddl_time=generation.ddl_time,
        mtime_ms=max(status.mtime_ms for status in statuses),
        n_files=sum(not status.is_dir for status in statuses),
        n_bytes=sum(status.size for status in statuses),
        n_partitions=n_partitions,
    )


def move_line(item: MoveItem) -> bytes:
    """Return the one JSON line of an item: sorted keys, no spaces; the plan's digest covers it."""
    text = json.dumps(asdict(item), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode() + b"\n"
