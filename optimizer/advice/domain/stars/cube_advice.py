"""Decides from what queries group by which cube a table should have, and says why not another.

Candidates come of groupings by greedy merging: how large a merged cube would be is not known
before it is sampled, so wide and narrow ones are tried beside each other.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from optimizer.advice.domain.asked import Aggregate
from optimizer.advice.domain.layout_advice import (
    LEAST_SAVED,
    MOST_DAYS,
    NoProposal,
    percent,
)
from optimizer.advice.domain.stars.drafts import Held, held_for
from optimizer.cubes.domain.definition import MAX_JOINS, MAX_MEASURES
from optimizer.cubes.domain.types import Function

CANDIDATES = 5
"""Of a table that are sampled: wide and narrow ones of what is read most, then of the rest."""
LEAST_QUERIES, LEAST_DAYS = 20, 3
SEEDS, POOL = 12, 60
"""Groupings that candidates begin with, and that may be merged into them: the dearest."""
LEAST_GAIN = 0.02
"""Of the bytes of all groupings; what adds less makes a cube wider for nothing."""


@dataclass(frozen=True, slots=True)
class RecordedGrouping:
    """Queries that grouped a table in one way in four weeks, and what they read of it."""

    digest: str
    dimensions: frozenset[str]
    measures: frozenset[Aggregate]
    joins: frozenset[str]
    n_queries: int
    n_bytes: int
    seconds: float = 0.0
    days: frozenset[Any] = frozenset()
    refused: str = ""

    @property
    def wanted(self) -> Held:
        """What a cube has to hold for it."""
        return held_for(self.dimensions, self.measures, self.joins)


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a cube could hold, and the groupings that it would answer."""

    held: Held
    answered: tuple[RecordedGrouping, ...]

    @property
    def n_queries(self) -> int:
        """Queries that it would have answered."""
        return sum(one.n_queries for one in self.answered)

    @property
    def n_bytes(self) -> int:
        """Bytes that those queries read."""
        return sum(one.n_bytes for one in self.answered)

    @property
    def seconds(self) -> float:
        """Seconds that those queries took."""
        return sum(one.seconds for one in self.answered)

    @property
    def n_days(self) -> int:
        """Days on which such queries came."""
        return len(frozenset[Any]().union(*(one.days for one in self.answered)))


@dataclass(frozen=True, slots=True)
class _Try:
    """Limits of a merged candidate."""

    most_dimensions: int
    with_distinct: bool = False


_TRIES = (_Try(10, with_distinct=True), _Try(10), _Try(6), _Try(3))
"""A measure of distinct values fits few columns, so one candidate does without."""


@dataclass(frozen=True, slots=True)
class Scanned:
    """What all queries read of the table, and how many bytes writers add to it a day."""

    n_bytes: int
    n_days: int
    added_a_day: float = 0.0


@dataclass(frozen=True, slots=True)
class CubeOption:
    """A sampled candidate; `refused` says what is wrong with it, the figures are zero then."""

    name: str
    n_queries: int
    n_days: int
    n_bytes: int
    cube_rows: float = 0.0
    cube_bytes: float = 0.0
    table_bytes: int = 0
    build_seconds: float = 0.0
    refused: str = ""

    @property
    def byte_share(self) -> float:
        """The cube's bytes as a share of the table's."""
        return min(1.0, self.cube_bytes / self.table_bytes) if self.table_bytes else 0.0


@dataclass(frozen=True, slots=True)
class CubeProposal:
    """A cube that pays; `place` is that of its option."""

    place: int
    expected: float
    reason: str
    runner_up: str
    saved_a_day: int = 0
    kept_a_day: int = 0


@dataclass
class _Judged:
    place: int
    option: CubeOption
    expected: float = 1.0
    net_a_day: float = 0.0
    kept_a_day: float = 0.0
    days: float = 0.0
    why_not: str = field(default="")


def candidates(
    groupings: Sequence[RecordedGrouping], existing: Iterable[Held]
) -> tuple[list[Candidate], list[RecordedGrouping]]:
    """Return what is worth a sample, the widest first, and the groupings that cubes hold already.

    Groupings that no cube could answer are left out of both.
    """
    cubes = list(existing)
    able = [one for one in groupings if not one.refused]
    held = [one for one in able if any(cube.answers(one.wanted) for cube in cubes)]
    digests = {one.digest for one in held}
    left = sorted(
        (one for one in able if one.digest not in digests),
        key=lambda one: (-one.n_bytes, one.digest),
    )
    found: dict[Held, Candidate] = {}
    rests = dict.fromkeys(_TRIES, left)
    while rests and len(found) < CANDIDATES:
        for limits, rest in list(rests.items()):
            best = _best(rest, left, limits)
            if best is None:
                del rests[limits]
                continue
            # A cube that turns out too large must not keep others from being tried.
            rests[limits] = [one for one in rest if not best.held.answers(one.wanted)]
            found.setdefault(best.held, best)
    return list(found.values())[:CANDIDATES], held


def decide_cube(options: Sequence[CubeOption], scanned: Scanned) -> CubeProposal | NoProposal:
    """Take the cube that saves most bytes a day after what it costs to build and to keep."""
    if not options:
        return NoProposal(
            f"No {LEAST_QUERIES} queries on {LEAST_DAYS} days group the table in a way that one "
            "cube answers."
        )
    judged = [_judged(place, one, scanned) for place, one in enumerate(options)]
    order = sorted(judged, key=lambda one: (one.why_not != "", -one.net_a_day, one.place))
    best, others = order[0], order[1:]
    if best.why_not:
        return NoProposal(f"The cube {best.option.name} is not advised: {best.why_not}.")
    return CubeProposal(
        best.place,
        best.expected,
        _reason(best, scanned),
        _runner_up(best, others[0]) if others else "",
        round(best.net_a_day),
        round(best.kept_a_day),
    )


def has_answered(n_answered: int, n_asked: int) -> bool | None:
    """Whether a cube answers a tenth of the queries that it was built for; None before 20 came."""
    if n_asked < LEAST_QUERIES:
        return None
    return n_answered >= LEAST_SAVED * n_asked


def _best(
    rest: Sequence[RecordedGrouping], left: Sequence[RecordedGrouping], limits: _Try
) -> Candidate | None:
    """Grow a candidate from each of the dearest of the rest; return what answers most of it."""
    read = {one.digest: one.n_bytes for one in rest}
    pool = [
        one
        for one in rest
        if limits.with_distinct or all(f != Function.DISTINCT for f, _ in one.wanted.states)
    ]
    wanted = {one.digest: one.wanted for one in pool[:POOL]}
    grown = [
        _grown(one, pool[:POOL], wanted, limits)
        for one in pool[:SEEDS]
        if one.dimensions and len(one.dimensions) <= limits.most_dimensions
    ]
    found = [
        Candidate(held, tuple(one for one in left if held.answers(one.wanted)))
        for held in dict.fromkeys(grown)
    ]
    enough = [one for one in found if one.n_queries >= LEAST_QUERIES and one.n_days >= LEAST_DAYS]

    def gain(one: Candidate) -> tuple[int, int]:
        n_bytes = sum(read.get(each.digest, 0) for each in one.answered)
        return n_bytes, -len(one.held.dimensions)

    return max(enough, key=gain, default=None)


def _grown(
    seed: RecordedGrouping,
    pool: Sequence[RecordedGrouping],
    wanted: Mapping[str, Held],
    limits: _Try,
) -> Held:
    """Merge groupings into one, those first that bring most bytes for each dimension they add."""
    least = LEAST_GAIN * sum(one.n_bytes for one in pool)
    held = wanted[seed.digest]
    while True:
        best, most = None, 0.0
        for one in pool:
            if held.answers(wanted[one.digest]):
                continue
            both = held.with_(wanted[one.digest])
            # The groups of strangers multiply.
            n_shared = len(held.dimensions & one.dimensions)
            if 2 * n_shared < len(one.dimensions) or not _fits(both, limits):
                continue
            gain = one.n_bytes / (1 + len(both.dimensions) - len(held.dimensions))
            if one.n_bytes >= least and gain > most:
                best, most = both, gain
        if best is None:
            return held
        held = best


def _fits(held: Held, limits: _Try) -> bool:
    n_measures = len({column for _, column in held.states})
    return (
        len(held.dimensions) <= limits.most_dimensions
        and n_measures <= MAX_MEASURES
        and len(held.joins) <= MAX_JOINS
    )


def _judged(place: int, option: CubeOption, scanned: Scanned) -> _Judged:
    found = _Judged(place, option)
    if option.refused:
        found.why_not = option.refused.rstrip(".")
        return found
    answered = min(1.0, option.n_bytes / scanned.n_bytes) if scanned.n_bytes else 0.0
    if answered < LEAST_SAVED:
        found.why_not = (
            f"its queries read {percent(answered)} of what is read of the table; at least "
            f"{percent(LEAST_SAVED)} is asked"
        )
        return found
    found.expected = 1 - answered * (1 - option.byte_share)
    if 1 - found.expected < LEAST_SAVED:
        found.why_not = f"it would save {percent(1 - found.expected)} of what is read of the table"
        return found
    a_day = scanned.n_bytes / max(1, scanned.n_days)
    # What writers add is read once more, and its groups are written.
    found.kept_a_day = scanned.added_a_day * (1 + option.byte_share)
    found.net_a_day = a_day * (1 - found.expected) - found.kept_a_day
    if found.net_a_day <= 0:
        found.why_not = "to keep it would read as much as it saves"
        return found
    found.days = (option.table_bytes + option.cube_bytes) / found.net_a_day
    if found.days > MOST_DAYS:
        found.why_not = f"its build would take more than {MOST_DAYS} days to be worth it"
    return found


def _reason(best: _Judged, scanned: Scanned) -> str:
    one = best.option
    share = min(1.0, one.n_bytes / scanned.n_bytes)
    repaid = "within a day" if best.days < 1 else f"in {best.days:.0f} days"
    return (
        f"It would answer {one.n_queries:,} recorded queries, which read {percent(share)} of what "
        f"is read of the table, from {one.cube_rows:,.0f} rows, {percent(one.byte_share)} of the "
        f"table's bytes. Its build, which reads the table once, is paid back {repaid}."
    )


def _runner_up(best: _Judged, other: _Judged) -> str:
    if other.why_not:
        return f"{other.option.name}, was not chosen: {other.why_not}"
    fewer = best.net_a_day - other.net_a_day
    return (
        f"{other.option.name} with {other.option.cube_rows:,.0f} rows, would answer "
        f"{other.option.n_queries:,} queries and save {percent(fewer / best.net_a_day)} less"
    )
