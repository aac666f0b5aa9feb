"""Collects changes into bounded batches and appends them with where to resume."""

import time
from collections.abc import Iterable

from pipelines.cdc.capture.domain.config import Limits
from pipelines.cdc.changes.domain.changelog import Changelog
from pipelines.cdc.changes.domain.positions import Position
from pipelines.cdc.changes.domain.records import Change, Header
from portal.safety.failpoints import Failpoints


class Batching:
    """The writing end of a changelog, held by one capture."""

    def __init__(
        self, log: Changelog, source: str, limits: Limits, failpoints: Failpoints, begin: Position
    ) -> None:
        end = log.end()
        self.number = end[0] if end else 0
        self._fence = (end[1].fence if end else 0) + 1
        self.total = end[1].total if end else 0
        self._log = log
        self._source = source
        self._limits = limits
        self._failpoints = failpoints
        self._begin = begin
        self._changes: list[Change] = []
        self._n_bytes = 0
        self._since = time.monotonic()

    def add(self, changes: Iterable[Change], n_bytes: int) -> None:
        """Take changes in; `n_bytes` is about what they take."""
        if not self._changes:
            self._since = time.monotonic()
        self._changes += changes
        self._n_bytes += n_bytes

    @property
    def is_full(self) -> bool:
        """Whether a batch has as much as it may."""
        return len(self._changes) >= self._limits.rows or self._n_bytes >= self._limits.bytes

    @property
    def is_due(self) -> bool:
        """Whether a batch has waited long enough; one without changes waits for the heartbeat."""
        waited = time.monotonic() - self._since
        return waited >= (self._limits.seconds if self._changes else self._limits.heartbeat_seconds)

    @property
    def begin(self) -> Position:
        """Where the next batch begins."""
        return self._begin

    def cut(self, end: Position, loads: dict[str, str]) -> int:
        """Append what there is, and say that reading resumes at `end`; returns how many changes.

        Raises:
            StaleState: `cdc.fenced`, where another capture has gone on.
        """
        header = Header(
            self._source,
            self._fence,
            str(self._begin),
            str(end),
            time.time_ns() // 1_000_000,
            len(self._changes),
            loads,
            self.total + len(self._changes),
        )
        with self._failpoints.step("batch"):
            self._log.append(self.number + 1, header, self._changes)
        self.number += 1
        n_changes = len(self._changes)
        self.total += n_changes
        self._begin, self._changes, self._n_bytes = end, [], 0
        self._since = time.monotonic()
        return n_changes
