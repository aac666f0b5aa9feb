"""Writes rows again that differ in the lake, some keys at a time, as the source has them now."""

from collections import deque
from collections.abc import Iterable
from dataclasses import replace

from pipelines.cdc.capture.domain.repairs import Repair, Repaired
from pipelines.cdc.capture.domain.row_changes import repairs_of
from pipelines.cdc.capture.domain.row_images import key_of
from pipelines.cdc.capture.engine.ports import SourcePort
from pipelines.cdc.capture.engine.schema_keeping import SchemaKeeping
from pipelines.cdc.changes.domain.records import Change

_KEYS_AT_ONCE = 500
_OTHER_KEY = "the table has another primary key now"
_NOT_CAPTURED = "the table is not captured"


class Repairing:
    """The repairs of one capture; the next process begins each again until it is told."""

    def __init__(
        self, repairs: Iterable[Repair], source: SourcePort, schemas: SchemaKeeping
    ) -> None:
        self._open = deque(repairs)
        self._source, self._schemas = source, schemas
        self._done_keys = 0
        self._current: Repaired | None = None
        self._finished: list[Repaired] = []

    @property
    def is_due(self) -> bool:
        """Whether anything is left to do."""
        return bool(self._open)

    @property
    def told(self) -> tuple[Repaired, ...]:
        """Those that are in the changelog whole."""
        return tuple(self._finished)

    def read(self) -> list[Change] | None:
        """Read the next keys; None while their table's schema is not known."""
        repair = self._open[0]
        self._current = self._current or Repaired(repair.id, 0, 0, 0)
        schema = self._schemas.book.latest(repair.name)
        if repair.name in self._schemas.refused or schema is None:
            return self._left_out(_NOT_CAPTURED)
        if self._schemas.has_pending(repair.name):
            return None
        asked = repair.keys[self._done_keys : self._done_keys + _KEYS_AT_ONCE]
        if any(key.keys() != set(schema.key) for key in asked):
            return self._left_out(_OTHER_KEY)
        keys = [key_of(key, schema.key) for key in asked]
        chunk = self._source.rows_of(schema, keys)
        if chunk is None:
            return None
        self._done_keys += len(keys)
        changes = repairs_of(chunk, schema, keys)
        n_deletes = sum(one.op == "d" for one in changes)
        self._current = replace(
            self._current,
            n_rows=self._current.n_rows + len(changes) - n_deletes,
            n_deletes=self._current.n_deletes + n_deletes,
        )
        return changes

    def written(self, batch: int) -> None:
        """Note that what `read` returned is in the changelog."""
        if self._current is None or self._done_keys < len(self._open[0].keys):
            return
        self._finished.append(replace(self._current, batch=batch))
        self._open.popleft()
        self._current, self._done_keys = None, 0

    def _left_out(self, note: str) -> list[Change]:
        if self._current is not None:
            self._current = replace(self._current, note=note)
        self._done_keys = len(self._open[0].keys)
        return []
