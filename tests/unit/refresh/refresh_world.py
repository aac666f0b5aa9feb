"""A small world for proofs: a metastore, front ends with caches, and what a portal saw of them.

The caches are those of `refresh_model`; what the portal notes are the product's own records.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from refresh.changes.domain.changes import PartitionChange
from refresh.clusters.domain.frontends import FeState
from refresh.core.domain.versions import Dialect
from refresh.freshness.domain.coverage import CompletedRefresh, Wish
from refresh.freshness.domain.visibility import Divergence, FeRecord
from tests.unit.refresh.refresh_model import MissingPartitionError, ModelFe, ModelMetastore

START = datetime(2026, 11, 22, 12, tzinfo=UTC)
NAMES = ("dt=0", "dt=1", "dt=2")
N_FES = 2


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


@dataclass
class Watched:
    """One front end of the model, and what the portal saw of it."""

    fe: ModelFe
    state: FeState = FeState.ALIVE
    done: list[CompletedRefresh] = field(default_factory=list)
    start: int = 0
    known_start: int = 0
    known_at: datetime = START
    empty_after: datetime | None = None
    divergence: Divergence | None = None
    running: tuple[datetime, ModelMetastore, tuple[str, ...]] | None = None


@dataclass
class Written:
    """A request, and which versions it hopes to see."""

    wish: Wish
    versions: dict[str, int]


class World:
    """A metastore, front ends and a portal that watches; every action takes a second."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.seconds = 0
        self.metastore = ModelMetastore()
        for name in NAMES[:2]:
            self.metastore.write(name)
        self.fes = [Watched(ModelFe(dialect is Dialect.RESOURCES)) for _ in range(N_FES)]
        self.written: list[Written] = []
        self.dropped_at: dict[str, int] = {}
        self.changes: dict[str, tuple[datetime, PartitionChange]] = {}

    @property
    def now(self) -> datetime:
        return at(self.seconds)

    def act(self, what: str, number: int, name: str) -> None:
        self.seconds += 1
        one = self.fes[number]
        if what in ("write", "drop"):
            getattr(self, what)(name)
        elif one.state is FeState.ALIVE:
            getattr(self, what)(one, name)
        elif what == "revive":
            self.revive(one, name)
        self.seconds += 1

    def write(self, name: str) -> None:
        touch = (
            PartitionChange.UPDATED if name in self.metastore.versions else PartitionChange.ADDED
        )
        self.metastore.write(name)
        wish = Wish(self.now, is_partitioned=True, partitions=frozenset({name}))
        self.written.append(Written(wish, {name: self.metastore.versions[name]}))
        whole = Wish(self.now, is_partitioned=True)
        self.written.append(Written(whole, dict(self.metastore.versions)))
        self.changes[name] = (self.now, touch)

    def drop(self, name: str) -> None:
        if name in self.metastore.versions:
            self.metastore.drop(name)
            self.dropped_at[name] = self.metastore.clock
            self.changes[name] = (self.now, PartitionChange.DROPPED)

    def begin_table(self, one: Watched, _name: str) -> None:
        one.running = (self.now, self.metastore.copy(), ())

    def begin_partition(self, one: Watched, name: str) -> None:
        one.running = (self.now, self.metastore.copy(), (name,))

    def end(self, one: Watched, _name: str) -> None:
        """Put into the caches what was read after the begin, and note that it is done."""
        if one.running is None:
            return
        began_at, read, names = one.running
        one.running = None
        try:
            one.fe.refresh_partitions(read, names) if names else one.fe.refresh_table(read)
        except MissingPartitionError:
            return
        one.done.append(CompletedRefresh(began_at, self.now, frozenset(names)))

    def fail(self, one: Watched, _name: str) -> None:
        one.running = None

    def query(self, one: Watched, _name: str) -> None:
        one.fe.query(self.metastore)

    def restart(self, one: Watched, _name: str) -> None:
        one.fe.restart()
        one.running = None
        one.start += 1

    def look(self, one: Watched, _name: str) -> None:
        if one.start != one.known_start:
            one.empty_after = one.known_at
        one.known_start, one.known_at = one.start, self.now

    def probe(self, one: Watched, _name: str) -> None:
        if one.fe.query(self.metastore) != self.metastore.versions:
            one.divergence = Divergence(self.now, "other numbers")

    def freeze(self, one: Watched, _name: str) -> None:
        one.state = FeState.FROZEN

    def die(self, one: Watched, name: str) -> None:
        self.restart(one, name)
        one.state = FeState.DEAD

    def revive(self, one: Watched, _name: str) -> None:
        one.state = FeState.ALIVE

    def records(self) -> list[FeRecord]:
        return [
            FeRecord(
                f"fe{number}",
                one.state,
                self.dialect,
                tuple(one.done),
                one.empty_after,
                one.divergence,
            )
            for number, one in enumerate(self.fes)
        ]

    def shows(self, one: Watched, written: Written) -> bool:
        """Whether a query there, now, sees what was written, or what came after it."""
        seen = one.fe.copy().query(self.metastore)
        return all(
            seen.get(name, 0) >= version or self._was_dropped(name, version, seen)
            for name, version in written.versions.items()
        )

    def _was_dropped(self, name: str, version: int, seen: dict[str, int]) -> bool:
        return name not in seen and self.dropped_at.get(name, 0) >= version
