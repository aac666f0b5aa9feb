"""Reads rows of a source into files of changelog lines, at a bounded rate and in bounded memory."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from pipelines.cdc.capture.connectors.chunks import Chunks
from pipelines.cdc.capture.connectors.source import Source
from pipelines.cdc.capture.domain.config import SourceConfig
from pipelines.cdc.capture.domain.loads import Chunk
from pipelines.cdc.capture.domain.row_changes import reads_of
from pipelines.cdc.changes.domain.positions import Position
from pipelines.cdc.changes.domain.records import Change, Row, encode
from pipelines.cdc.changes.domain.schemas import TableSchema
from portal.connectors.file_status import FileSystem
from portal.lake.errors import StaleState
from portal.lake.paths import LakePath

_FILE_BYTES = 16 << 20
_PRIVATE = 0o700
_KEYS_AT_ONCE = 500
_TRIES, _PAUSE = 50, 0.2


@dataclass
class SourceRows:
    """The rows of one table, a change a line, as a full load writes them."""

    config: SourceConfig
    source: Source
    chunks: Chunks
    schema: TableSchema
    fs: FileSystem
    folder: LakePath
    rows_per_second: int
    files: list[LakePath] = field(default_factory=list)
    first_version: int = 0
    """Of the position at which the first chunk was read."""
    n_rows: int = 0
    _lines: list[bytes] = field(default_factory=list)
    _n_bytes: int = 0
    _n_files: int = 0

    def position(self) -> Position:
        """Return where the source's log ends now."""
        return self.source.position()

    def read_all(self) -> None:
        """Read the whole table, each chunk at a position of its own."""
        self._begin()
        after: tuple[str, ...] = ()
        while True:
            began = time.monotonic()
            chunk = self._chunk(after)
            self.first_version = self.first_version or chunk.position.version
            self._add(reads_of(chunk, self.schema))
            if chunk.is_last:
                break
            after = chunk.after
            self._slow_down(len(chunk.rows), began)
        self._flush(is_last=True)

    def read_keys(self, keys: Sequence[Row]) -> None:
        """Read the rows of some keys; one that is not there becomes a delete."""
        self._begin()
        for n in range(0, len(keys), _KEYS_AT_ONCE):
            began, some = time.monotonic(), keys[n : n + _KEYS_AT_ONCE]
            chunk = self._rows(some)
            self.first_version = self.first_version or chunk.position.version
            found = reads_of(chunk, self.schema)
            there = {tuple(one.key.values()) for one in found}
            gone = [key for key in some if tuple(key.values()) not in there]
            self._add([*found, *(_delete(key, chunk, self.schema) for key in gone)])
            self._slow_down(len(some), began)
        self._flush(is_last=True)

    def remove(self) -> None:
        """Remove the files."""
        for file in self.files:
            self.fs.remove_file(file)
        self.files = []

    def _begin(self) -> None:
        self.remove()
        self.fs.make_directories(self.folder, mode=_PRIVATE)
        self.first_version = self.n_rows = 0

    def _chunk(self, after: tuple[str, ...]) -> Chunk:
        for _ in range(_TRIES):
            if (chunk := self.chunks.read(self.schema, after)) is not None:
                return chunk
            time.sleep(_PAUSE)
        raise self._moved()

    def _rows(self, keys: Sequence[Row]) -> Chunk:
        for _ in range(_TRIES):
            if (chunk := self.chunks.read_keys(self.schema, keys)) is not None:
                return chunk
            time.sleep(_PAUSE)
        raise self._moved()

    def _moved(self) -> StaleState:
        name = f"{self.schema.db}.{self.schema.table}"
        return StaleState(
            "cdc.reconcile_schema",
            f"{name} has another schema at the source than the lake follows just now. It is "
            "compared again once the change is applied.",
        )

    def _add(self, changes: Sequence[Change]) -> None:
        lines = [encode(one) for one in changes]
        self._lines += lines
        self._n_bytes += sum(map(len, lines))
        self.n_rows += sum(one.op == "r" for one in changes)
        if self._n_bytes >= _FILE_BYTES:
            self._flush()

    def _flush(self, *, is_last: bool = False) -> None:
        if not self._lines and not (is_last and not self.files):
            return
        self._n_files += 1
        path = self.folder.child(f"{self._n_files:08}.jsonl")
        self.fs.write_new(path, b"\n".join([*self._lines, b""]))
        self.files.append(path)
        self._lines, self._n_bytes = [], 0

    def _slow_down(self, n_rows: int, began: float) -> None:
        due = n_rows / self.rows_per_second - (time.monotonic() - began)
        if due > 0:
            time.sleep(due)


def _delete(key: Row, chunk: Chunk, schema: TableSchema) -> Change:
    position = chunk.position
    return Change(
        db=schema.db,
        table=schema.table,
        op="d",
        version=position.version,
        key=key,
        schema=schema.number,
        position=str(position),
        at=chunk.at,
    )
