"""Schedules statements: what starts now, and on which front end, within every limit.

In each lane the oldest comes first, and what is urgent counts as somewhat older: so nothing waits
for ever. A table of several statements goes back in line after each, behind all that waited
meanwhile: of a very large table's hundred, others wait for one. Each slower lane leaves one place
free for the faster ones, on every front end and in every catalog, so that however many very large
tables wait, a small table finds room. Where one lock leaves no such place, what is slow begins
when nothing faster waits, or when it has been passed over for long enough.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from portal.lake.errors import RuleViolation
from refresh.core.domain.names import ExternalTable
from refresh.core.domain.versions import Dialect
from refresh.worker.domain.lanes import Lane

URGENT_BY = timedelta(seconds=60)
# For so long a slower statement lets faster ones go first where one lock covers all of them.
PATIENCE = {
    Lane.FAST: timedelta(0),
    Lane.SLOW: timedelta(seconds=30),
    Lane.GIANT: timedelta(minutes=5),
}


@dataclass(frozen=True, slots=True)
class Waiting:
    """A statement that waits; `only_on` names the front end of a repair.

    `turn_ended`: when the last statement ended that the table was sent since it waits.
    """

    key: str
    table: ExternalTable
    lane: Lane
    since: datetime
    is_urgent: bool = False
    not_before: datetime | None = None
    only_on: str = ""
    turn_ended: datetime | None = None

    @property
    def order(self) -> tuple[datetime, str]:
        """Its place in the line, fixed from the beginning: whoever comes later ends up behind."""
        if self.turn_ended is not None:
            return (self.turn_ended, self.key)
        return (self.since - URGENT_BY if self.is_urgent else self.since, self.key)


@dataclass(frozen=True, slots=True)
class Running:
    """A statement that runs."""

    table: ExternalTable
    lane: Lane
    fe: str


@dataclass(frozen=True, slots=True)
class Limits:
    """How many statements may run at once; each lane needs a place of its own.

    `has_lanes` false: there is one line for all of a cluster, one statement after the other.
    """

    per_fe: int = 4
    per_catalog: int = 6
    has_lanes: bool = True

    def __post_init__(self) -> None:
        if min(self.per_fe, self.per_catalog) < len(Lane):
            raise RuleViolation(
                "refresh.limits",
                f"Each of the {len(Lane)} lanes needs a place: at least {len(Lane)} statements "
                "at once per front end and per catalog.",
            )


@dataclass(frozen=True, slots=True)
class Cluster:
    """Who can be asked now (alive, no open breaker), and whether very large tables may start."""

    fes: Sequence[str]
    dialect: Dialect
    large_may_start: bool = True
    is_paused: bool = False


@dataclass(frozen=True, slots=True)
class Start:
    """What begins now, and where."""

    waiting: Waiting
    fe: str


@dataclass(slots=True)
class _Places:
    """How many run, by front end and by catalog, in a lane or a slower one."""

    cluster: Cluster
    limits: Limits
    tables: set[ExternalTable] = field(default_factory=set)
    fes: Counter[tuple[str, Lane]] = field(default_factory=Counter)
    catalogs: Counter[tuple[str, Lane]] = field(default_factory=Counter)

    def take(self, one: Waiting | Running, *, fe: str) -> None:
        self.tables.add(one.table)
        _add(self.fes, fe, one.lane)
        _add(self.catalogs, one.table.catalog, one.lane)

    def hold(self, one: Waiting, *, fe: str | None) -> None:
        """Keep the half of a place that is free, so that nobody younger takes it meanwhile."""
        if fe is not None:
            _add(self.fes, fe, one.lane)
        elif self.has_room_in_catalog(one):
            _add(self.catalogs, one.table.catalog, one.lane)

    def fe_for(self, one: Waiting) -> str | None:
        """Return the front end with room and the fewest running; None if none that it may use."""
        able = [
            fe
            for fe in self.cluster.fes
            if one.only_on in ("", fe)
            and _has_room(self.fes, fe, one.lane, most=self.limits.per_fe)
        ]
        return min(able, key=lambda fe: (self.fes[fe, Lane.FAST], fe), default=None)

    def has_room_in_catalog(self, one: Waiting) -> bool:
        if self.cluster.dialect is Dialect.RESOURCES or not self.limits.has_lanes:
            # One lock of the process covers every refresh (2.x): a second one would only wait in
            # silence and spend its time-out.
            return not self.tables
        catalog, most = one.table.catalog, self.limits.per_catalog
        return _has_room(self.catalogs, catalog, one.lane, most=most)

    def may_come(self, one: Waiting) -> bool:
        """Whether it waits for a place only: not for its table, its front end, or its hour."""
        is_there = one.only_on in self.cluster.fes if one.only_on else bool(self.cluster.fes)
        # Behind the one lock a very large table keeps all others waiting.
        is_its_hour = (
            self.cluster.dialect is Dialect.CATALOGS
            or one.lane < Lane.GIANT
            or self.cluster.large_may_start
        )
        return is_there and is_its_hour and one.table not in self.tables


def _add(counts: Counter[tuple[str, Lane]], name: str, lane: Lane) -> None:
    counts.update((name, other) for other in Lane if other <= lane)


def _has_room(counts: Counter[tuple[str, Lane]], name: str, lane: Lane, *, most: int) -> bool:
    return all(counts[name, other] < most - other for other in Lane if other <= lane)


def place_in_line(
    one: Waiting, *, dialect: Dialect, now: datetime
) -> tuple[Lane, tuple[datetime, str]]:
    """Give what the line is sorted by: behind one lock the lane, for as long as there is patience.

    Else those who came while a very large table held the lock would wait for its next statement
    too.
    """
    was_passed_over = now - (one.turn_ended or one.since)
    is_patient = dialect is Dialect.RESOURCES and was_passed_over < PATIENCE[one.lane]
    return (one.lane if is_patient else Lane.FAST, one.order)


def choose(
    waiting: Iterable[Waiting],
    *,
    running: Iterable[Running],
    cluster: Cluster,
    limits: Limits,
    now: datetime,
) -> list[Start]:
    """Choose what starts now in one cluster; the caller starts all of it, or asks again.

    A table never runs twice at once. What cannot start (not yet due, its table runs, its front end
    is away) keeps its place in the line and holds nobody up; the first of a lane that lacks half a
    place keeps the other half.
    """
    if cluster.is_paused:
        return []
    places = _Places(cluster, limits)
    for running_one in running:
        places.take(running_one, fe=running_one.fe)
    started: list[Start] = []
    held: set[Lane] = set()
    due = (one for one in waiting if one.not_before is None or one.not_before <= now)
    for one in sorted(due, key=lambda item: place_in_line(item, dialect=cluster.dialect, now=now)):
        if not places.may_come(one):
            continue
        fe = places.fe_for(one)
        if fe is not None and places.has_room_in_catalog(one):
            places.take(one, fe=fe)
            started.append(Start(one, fe))
        elif one.lane not in held:
            held.add(one.lane)
            places.hold(one, fe=fe)
    return started
