"""Finds log file blocks of a Hudi table that are not simply those of a completed commit.

Hudi's own log reader goes from block to block and passes over what they hold, so a file costs a
few small reads. What it makes of a damaged file is the evidence: how much it skipped.
"""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from optimizer.hudi.inspect.domain.facts import BlockKind, BlockState, LogBlock
from optimizer.hudi.inspect.jobs.instants import Timeline
from optimizer.hudi.inspect.jobs.slices import LogFile
from optimizer.hudi.tables.jobs.errors import error_text
from optimizer.hudi.tables.jobs.table import OpenedTable
from portal.spark.java_errors import JAVA_ERRORS

MOST_FILES = 20_000
"""Of more log files than this, the newest are read."""
_MAGIC = b"#HUDI#"
_MOST_SEARCHED = 1 << 20
_AT_ONCE = 8
_KINDS = {
    "COMMAND_BLOCK": BlockKind.COMMAND,
    "DELETE_BLOCK": BlockKind.DELETE,
    "CORRUPT_BLOCK": BlockKind.CORRUPT,
    "CDC_DATA_BLOCK": BlockKind.CDC,
}


@dataclass(frozen=True, slots=True)
class _Found:
    """A block as the reader gave it; `takes_back` is the instant that a command rolls back."""

    log: LogFile
    position: int
    kind: BlockKind
    instant: str | None
    n_bytes: int
    detail: str = ""
    takes_back: str | None = None


def read_blocks(
    table: OpenedTable, logs: Iterable[LogFile], timeline: Timeline
) -> tuple[LogBlock, ...]:
    """Read the log files, and give the blocks that are evidence of something."""
    newest = sorted(logs, key=lambda one: one.instant, reverse=True)[:MOST_FILES]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        files = list(pool.map(lambda log: _blocks(table, log), newest))
    found = [block for blocks in files for block in blocks]
    taken_back = {(one.log.group, one.takes_back) for one in found if one.takes_back}
    completed, pending = timeline.completed(), timeline.pending()
    told = [
        _judged(one, completed, pending)
        for one in found
        if (one.log.group, one.instant) not in taken_back
    ]
    strange = [one for one in told if one.state is not BlockState.COMPLETED]
    return tuple(sorted(strange, key=lambda one: (one.group, one.log_file, one.position)))


def _judged(one: _Found, completed: Iterable[str], pending: Iterable[str]) -> LogBlock:
    if one.kind is BlockKind.CORRUPT or one.instant is None:
        state = BlockState.CORRUPT
    elif one.instant in completed:
        state = BlockState.COMPLETED
    else:
        state = BlockState.PENDING if one.instant in pending else BlockState.NOWHERE
    return LogBlock(
        group=one.log.group,
        log_file=one.log.name,
        position=one.position,
        kind=one.kind,
        state=state,
        instant=one.instant,
        n_bytes=one.n_bytes,
        detail=one.detail,
    )


def _blocks(table: OpenedTable, log: LogFile) -> list[_Found]:
    """Return the blocks of a file; nothing of one that is there no more."""
    of = table.hudi.common
    path = table.hudi.storage.StoragePath(log.path)
    storage = table.java.getStorage()
    found: list[_Found] = []
    try:
        file = of.model.HoodieLogFile(path, log.n_bytes)
        reader = of.table.log.HoodieLogFormat.newReader(storage, file, None)
        try:
            while reader.hasNext():
                found.append(_found(table, log, reader.next()))
        finally:
            reader.close()
    except JAVA_ERRORS as error:
        if storage.exists(path):
            detail = f"Hudi's reader stops here: {error_text(error)}"
            found.append(_Found(log, 0, BlockKind.CORRUPT, None, log.n_bytes, detail))
    return found


def _found(table: OpenedTable, log: LogFile, block: Any) -> _Found:
    kind = _KINDS.get(str(block.getBlockType().name()), BlockKind.DATA)
    place = block.getBlockContentLocation().get()
    start, end = int(place.getContentPositionInLogFile()), int(place.getBlockEndPos())
    if kind is BlockKind.CORRUPT:
        detail = _skipped(table, log, start, end)
        return _Found(log, start, kind, None, max(0, end - start), detail)
    heads = {str(key.name()): str(value) for key, value in dict(block.getLogBlockHeader()).items()}
    return _Found(
        log,
        start,
        kind,
        heads.get("INSTANT_TIME"),
        int(place.getBlockSize()),
        takes_back=heads.get("TARGET_INSTANT_TIME") if kind is BlockKind.COMMAND else None,
    )


def _skipped(table: OpenedTable, log: LogFile, start: int, end: int) -> str:
    """Say how much the reader skipped, and how many blocks begin in there."""
    text = f"Hudi's reader skips {end - start} bytes from byte {start} on"
    size = min(max(0, end - start), _MOST_SEARCHED)
    stream = table.java.getStorage().open(table.hudi.storage.StoragePath(log.path))
    try:
        stream.skipNBytes(start)
        n_magic = bytes(stream.readNBytes(size)).count(_MAGIC)
    finally:
        stream.close()
    if not n_magic:
        return f"{text}."
    return f"{text}, in which {n_magic} other block{'s' if n_magic > 1 else ''} begin."
