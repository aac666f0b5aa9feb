"""Simulates tables under an optimizer: files added and removed, busy slots, work lost or done.

One clock and the same commits for whoever decides. A rewrite that another writer's change meets is
lost, as Iceberg would refuse its commit. Speeds are the same for everybody and stated, not
measured.
"""

import heapq
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from bench.fleet_history import MB, WRITERS, History

TARGET = 128 * MB
SMALL = 96 * MB
SLOTS = 48
BYTES_PER_SECOND = 50.0 * MB  # of one slot, read and written together
OPEN_SECONDS = 0.02
SAMPLE_SECONDS = 3600.0
LATEST_SECONDS = 65.0  # what is needed this soon after a commit is needed because of it


@dataclass(slots=True)
class Part:
    """One partition's data files."""

    sizes: list[int] = field(default_factory=list)
    newest: float = 0.0
    changed: float = -1.0
    rewritten: float | None = None
    wanted: float | None = None  # since when a rewrite is needed
    is_busy: bool = False


@dataclass(frozen=True, slots=True)
class Work:
    """Files of one partition being rewritten: places in its list, of the first `length`."""

    table: int
    partition: int
    picked: tuple[int, ...]
    n_bytes: int
    length: int

    @property
    def seconds(self) -> float:
        """How long one slot takes for it."""
        return 2 * self.n_bytes / BYTES_PER_SECOND + len(self.picked) * OPEN_SECONDS


@dataclass(frozen=True, slots=True)
class Begin:
    """What begins: seconds until its work does, and how many of them a slot is taken for it."""

    works: list[Work]
    seconds_before: float = 0.0
    seconds_shared: float = 0.0


@dataclass(slots=True)
class Figures:
    """What is measured."""

    rewritten_bytes: int = 0
    lost_bytes: int = 0
    n_done: int = 0
    n_lost: int = 0
    lags: list[float] = field(default_factory=list)
    queued: list[float] = field(default_factory=list)
    slot_seconds: float = 0.0
    samples: list[tuple[float, float, float]] = field(default_factory=list)
    by_writer: dict[str, float] = field(default_factory=dict)


class Decider(Protocol):
    """Who decides; `tick` is called as often as it asked."""

    every: float
    loses_all: bool  # whether one lost partition loses the whole process

    def heard(self, world: "World", table: int, partition: int) -> None:
        """Take in that a commit came."""

    def tick(self, world: "World") -> None:
        """Look around."""

    def woken(self, world: "World", table: int) -> None:
        """Take in that a time came that it asked for."""

    def begin(self, world: "World") -> "Begin | None":
        """Return what begins now; None if nothing does."""


@dataclass(slots=True)
class World:
    """The tables, the clock and the slots."""

    history: History
    decider: Decider
    slots: int = SLOTS
    now: float = 0.0
    free: int = field(init=False)
    tables: list[dict[int, Part]] = field(default_factory=list)
    figures: Figures = field(default_factory=Figures)
    _events: list[tuple[float, int, str, object]] = field(default_factory=list)
    _n: int = 0

    def __post_init__(self) -> None:
        self.free = self.slots

    def later(self, at: float, what: str, that: object) -> None:
        """Ask for something at a time."""
        self._n += 1
        heapq.heappush(self._events, (at, self._n, what, that))

    def want(self, table: int, partition: int) -> None:
        """Note that a rewrite is needed: since its newest commit, or since now by time alone."""
        part = self.tables[table][partition]
        if part.wanted is None:
            is_commit = self.now - part.newest <= LATEST_SECONDS
            part.wanted = part.newest if is_commit else self.now
            if is_commit:
                self.figures.queued.append(self.now - part.newest)

    def run(self) -> Figures:
        """Replay the whole history, and finish nothing that is left at its end."""
        history = self.history
        self.tables = [{} for _ in range(history.n_tables)]
        self.later(self.decider.every, "tick", None)
        self.later(SAMPLE_SECONDS, "sample", None)
        times, owners = history.at.tolist(), history.table.tolist()
        parts, first = history.partition.tolist(), history.first.tolist()
        for n, at in enumerate(times):
            self._until(at)
            self.now = at
            self._commit(owners[n], parts[n], history.sizes[first[n] : first[n + 1]].tolist())
        self._sample()
        return self.figures

    def _until(self, at: float) -> None:
        while self._events and self._events[0][0] <= at:
            self.now, _, what, that = heapq.heappop(self._events)
            if what == "tick":
                self.decider.tick(self)
                self.later(self.now + self.decider.every, "tick", None)
            elif what == "wake" and isinstance(that, int):
                self.decider.woken(self, that)
            elif what == "end" and isinstance(that, tuple):
                self._end(*that)
            elif what == "free" and isinstance(that, int):
                self.free += that
            elif what == "sample":
                self._sample()
                self.later(self.now + SAMPLE_SECONDS, "sample", None)
            self._begin()

    def _commit(self, table: int, partition: int, sizes: list[int]) -> None:
        part = self.tables[table].setdefault(partition, Part())
        if WRITERS[self.history.writer[table]].is_merge:
            part.changed = self.now
            if part.sizes:
                # The file whose rows changed is rewritten, at about its size.
                part.sizes.append(part.sizes.pop(self._n % len(part.sizes)))
        part.sizes += sizes
        part.newest = self.now
        self.decider.heard(self, table, partition)
        self._begin()

    def _begin(self) -> None:
        while self.free > 0:
            found = self.decider.begin(self)
            if found is None:
                return
            works, before = found.works, found.seconds_before
            n_units = sum(max(1, one.n_bytes // TARGET) for one in works)
            width = max(1, min(n_units, self.free // 2))
            self.free -= width
            for one in works:
                part = self.tables[one.table][one.partition]
                part.is_busy = True
                if part.wanted is not None:
                    self.figures.lags.append(self.now + before - part.wanted)
                    part.wanted = None
            seconds = sum(one.seconds for one in works) / width
            self.later(self.now + before + seconds, "end", (works, self.now))
            self.later(self.now + found.seconds_shared + seconds, "free", width)
            self.figures.slot_seconds += width * (found.seconds_shared + seconds)

    def _end(self, works: list[Work], begun: float) -> None:
        parts = [self.tables[one.table][one.partition] for one in works]
        lost = [part.changed > begun for part in parts]
        if self.decider.loses_all and any(lost):
            lost = [True] * len(lost)
        for one, part, is_lost in zip(works, parts, lost, strict=True):
            part.is_busy = False
            if is_lost:
                self.figures.lost_bytes += one.n_bytes
                self.figures.n_lost += 1
            else:
                part.sizes = _replaced(part.sizes, one)
                part.rewritten = self.now
                self.figures.rewritten_bytes += one.n_bytes
                self.figures.n_done += 1
            self.decider.heard(self, one.table, one.partition)

    def _sample(self) -> None:
        counts: Counter[str] = Counter()
        n_small = 0
        for table, parts in enumerate(self.tables):
            name = WRITERS[self.history.writer[table]].name
            for part in parts.values():
                counts[name] += len(part.sizes)
                n_small += sum(size < SMALL for size in part.sizes)
        n_tables = self.history.n_tables
        self.figures.samples.append((self.now, counts.total() / n_tables, n_small / n_tables))
        owners = Counter(WRITERS[kind].name for kind in self.history.writer.tolist())
        self.figures.by_writer = {one: counts[one] / owners[one] for one in owners}


def work_of(table: int, partition: int, sizes: list[int], picked: Iterable[int]) -> Work:
    """Return the rewrite of some of a partition's files."""
    chosen = tuple(picked)
    return Work(table, partition, chosen, sum(sizes[n] for n in chosen), len(sizes))


def _replaced(sizes: list[int], work: Work) -> list[int]:
    gone = set(work.picked)
    kept = [size for n, size in enumerate(sizes) if n not in gone]
    n_new = max(1, -(-work.n_bytes // TARGET))
    return [*kept, *[work.n_bytes // n_new] * n_new]
