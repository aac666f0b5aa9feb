"""Estimates whether a rewrite begun now would be lost to another writer, and advises on it.

Appends never conflict with a rewrite. A delete, an overwrite or a merge that touches one of its
files does, and then the whole commit of the rewrite is refused. How soon the next such change will
come is told from those that came: at random at their lately seen rate, or, where they come at
regular intervals (an hourly merge), not before the next one is due.

Each partition is advised on by its own time and writers. A task takes those that may go, cold ones
first, and leaves the others for later; where none may go, the whole task waits.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from math import exp, fsum, inf, log, sqrt
from statistics import median

from optimizer.iceberg.inspect.domain.stats import PartitionStats
from optimizer.policies.domain.policy import ConflictTolerance

HALF_LIFE = timedelta(hours=6)
REMEMBERED = timedelta(days=3)
LEAST_GAPS = 4
REGULAR_BELOW = 0.25  # spread of the gaps over their mean
DUE_FROM = 0.8  # of the usual gap: a change that comes at intervals is not due before
LEAST_GROUP_SECONDS = 20.0
LONGEST_WAIT = timedelta(hours=24)
MOST_REMEMBERED = 500  # of a writer that commits every second, these tell as much as all
BURST = 8
_NEVER = datetime.min.replace(tzinfo=UTC)
COLD_AFTER = timedelta(days=1)

APPEND = "append"


@dataclass(frozen=True, slots=True)
class CommitFact:
    """A commit as far as it matters here; `partitions` is None where it is not known which."""

    at: datetime
    operation: str = ""  # append, overwrite, delete; a replace of others; empty where not told
    partitions: frozenset[str] | None = None
    is_ours: bool = False

    @property
    def can_conflict(self) -> bool:
        """Whether it took files or rows away: what is not known is taken to have done so."""
        return self.operation != APPEND

    def touches(self, partition: str) -> bool:
        """Whether it may have touched a partition."""
        return self.partitions is None or partition in self.partitions


@dataclass(frozen=True, slots=True)
class History:
    """The changes of others that may have touched one partition, oldest first.

    What it says of a moment is kept: thousands of partitions of a table share one history.
    """

    changes: tuple[datetime, ...] = ()
    _rates: dict[datetime, float] = field(default_factory=dict, compare=False, repr=False)
    _free: dict[datetime, float] = field(default_factory=dict, compare=False, repr=False)

    @property
    def last(self) -> datetime | None:
        """When the last one was."""
        return self.changes[-1] if self.changes else None

    def rate(self, now: datetime) -> float:
        """Return the changes a second to be expected: of a burst that goes on, or of the last days.

        Those of long ago count for less.
        """
        if now not in self._rates:
            self._rates[now] = max(self._decayed(now), self._burst(now))
        return self._rates[now]

    def _decayed(self, now: datetime) -> float:
        half = HALF_LIFE.total_seconds()
        ages = [max((now - at).total_seconds(), 0.0) for at in self.changes]
        return fsum(exp(-log(2) * age / half) for age in ages) * log(2) / half

    def _burst(self, now: datetime) -> float:
        if len(self.changes) < BURST:
            return 0.0
        return BURST / max((now - self.changes[-BURST]).total_seconds(), 1.0)

    def falls_to(self, rate: float, now: datetime) -> datetime:
        """When the rate is down to `rate` (above 0) if no change comes any more."""
        decayed, at = self._decayed(now), now
        if decayed > rate:
            at = now + HALF_LIFE * (log(decayed / rate) / log(2))
        if len(self.changes) >= BURST:
            at = max(at, self.changes[-BURST] + timedelta(seconds=BURST / rate))
        return at

    def free_for(self, now: datetime) -> float:
        """Return the seconds until the next change is due, of changes that come at intervals.

        0 where they do not, or where one is due or overdue.
        """
        if now not in self._free:
            due = self._due()
            self._free[now] = max((due - now).total_seconds(), 0.0) if due else 0.0
        return self._free[now]

    def _due(self) -> datetime | None:
        gaps = [
            (after - before).total_seconds()
            for before, after in zip(self.changes, self.changes[1:], strict=False)
        ]
        if len(gaps) < LEAST_GAPS:
            return None
        mean = fsum(gaps) / len(gaps)
        spread = sqrt(fsum((gap - mean) ** 2 for gap in gaps) / len(gaps))
        if spread > REGULAR_BELOW * mean:
            return None
        return self.changes[-1] + timedelta(seconds=DUE_FROM * median(gaps))


class Approach(StrEnum):
    """How a rewrite is begun, if it is."""

    NOW = "NOW"
    SMALL_GROUPS = "SMALL_GROUPS"
    WAIT = "WAIT"


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do with a rewrite: `seconds` is the longest that one commit may take, inf if any."""

    approach: Approach
    risk: float
    reason: str
    seconds: float = inf
    not_before: datetime | None = None


class Changes:
    """The commits of others to a table that could conflict with a rewrite, told by partition."""

    def __init__(self, commits: Iterable[CommitFact], *, now: datetime) -> None:
        self._now = now
        self._anywhere: list[datetime] = []
        self._at: defaultdict[str, list[datetime]] = defaultdict(list)
        self._shared: dict[int, History] = {}
        for one in commits:
            if not one.can_conflict or one.is_ours or not now - REMEMBERED <= one.at <= now:
                continue
            for partition in one.partitions or ():
                self._at[partition].append(one.at)
            if one.partitions is None:
                self._anywhere.append(one.at)
        self._anywhere.sort()

    def of(self, partition: str, *, newest_commit_at: datetime | None) -> History:
        """Return the changes that may have touched a partition.

        Where a commit does not say which partitions it touched, those after the partition's newest
        commit did not touch this one.
        """
        n = bisect_right(self._anywhere, newest_commit_at or self._now)
        if partition in self._at:
            found = sorted([*self._at[partition], *self._anywhere[:n]])
            return History(tuple(found[-MOST_REMEMBERED:]))
        if n not in self._shared:
            self._shared[n] = History(tuple(self._anywhere[max(n - MOST_REMEMBERED, 0) : n]))
        return self._shared[n]


def risk_of(history: History, *, seconds: float, now: datetime) -> float:
    """Return the chance, 0 to 1, that a change comes within `seconds`."""
    exposed = seconds - history.free_for(now)
    return 1.0 - exp(-history.rate(now) * exposed) if exposed > 0 else 0.0


def longest_at(history: History, *, most_risk: float, now: datetime) -> float:
    """Return the longest time for which the risk stays at or below `most_risk`."""
    rate = history.rate(now)
    return history.free_for(now) + (-log(1.0 - most_risk) / rate if rate > 0 else inf)


def advise(
    history: History, *, seconds: float, caution: ConflictTolerance, since: datetime, now: datetime
) -> Advice:
    """Say how a rewrite of `seconds` that waits `since` then is begun.

    None waits for more than a day: after that it goes in the smallest groups, whatever the risk.
    """
    risk = risk_of(history, seconds=seconds, now=now)
    if risk <= caution.most_risk:
        return Advice(Approach.NOW, risk, _low(history, risk))
    longest = longest_at(history, most_risk=caution.most_risk, now=now)
    if longest >= LEAST_GROUP_SECONDS:
        return Advice(
            Approach.SMALL_GROUPS,
            risk,
            f"Other writers change these files often ({risk:.0%} risk for the whole): committed in "
            f"groups of {longest:.0f} seconds each.",
            seconds=longest,
        )
    if now - since >= LONGEST_WAIT:
        return Advice(
            Approach.SMALL_GROUPS,
            risk,
            f"It has waited {_hours(now - since)} for other writers to pause and they do not: "
            "tried in the smallest groups.",
            seconds=LEAST_GROUP_SECONDS,
        )
    cold = cold_at(history, caution=caution, now=now)
    return Advice(
        Approach.WAIT,
        risk,
        f"Other writers change these files too often ({risk:.0%} risk of losing the work): waits "
        f"until they pause, at the latest {LONGEST_WAIT.total_seconds() / 3600:.0f} hours in all.",
        seconds=0.0,
        not_before=min(cold, since + LONGEST_WAIT),
    )


def cold_at(history: History, *, caution: ConflictTolerance, now: datetime) -> datetime:
    """When, if no change comes any more, the smallest group is safe enough."""
    return history.falls_to(-log(1.0 - caution.most_risk) / LEAST_GROUP_SECONDS, now)


def lost_already(commits: Sequence[CommitFact], *, partition: str, since: datetime) -> str:
    """Say why a rewrite of a partition that began at `since` need not go on; '' if it may.

    Whoever rewrites asks between groups: after a change of the same files the group's commit would
    be refused, and its work is for nothing.
    """
    found = [
        one
        for one in commits
        if one.at > since and one.can_conflict and not one.is_ours and one.touches(partition)
    ]
    if not found:
        return ""
    first = min(found, key=lambda one: one.at)
    return (
        f"Another writer's {first.operation or 'commit'} of {first.at:%Y-%m-%d %H:%M:%S} UTC "
        "touched the same files while they were being rewritten."
    )


def _low(history: History, risk: float) -> str:
    if not history.changes:
        return "No other writer changes these files: appends do not conflict."
    return f"The risk of another writer's change meanwhile is {risk:.0%}."


def _hours(wait: timedelta) -> str:
    return f"{wait.total_seconds() / 3600:.0f} hours"


_CAREFUL = (Approach.NOW, Approach.SMALL_GROUPS, Approach.WAIT)


@dataclass(frozen=True, slots=True)
class Weighed:
    """A task's partitions after the advice on each.

    `advice` is the most careful one of `partitions`. Where that is to wait, all of them do.
    `again_at` is when the first of those that wait may go.
    """

    partitions: tuple[PartitionStats, ...]
    advice: Advice
    n_waiting: int = 0
    again_at: datetime | None = None
    is_cold: bool = False

    @property
    def n_left_out(self) -> int:
        """How many partitions are left for later while the others go."""
        return 0 if self.advice.approach is Approach.WAIT else self.n_waiting

    @property
    def words(self) -> str:
        """Say how many are left for later; '' where none is."""
        if not self.n_left_out:
            return ""
        of = self.n_left_out + len(self.partitions)
        return f" {self.n_left_out:,} of {of:,} partitions wait for other writers to pause."


def weigh(
    partitions: Sequence[PartitionStats],
    advised: Callable[[PartitionStats], Advice],
    *,
    now: datetime,
) -> Weighed:
    """Part a task's partitions, at least one, by the advice on each."""
    found = [(stats, advised(stats)) for stats in partitions]
    free = [one for one in found if one[1].approach is not Approach.WAIT]
    pauses = [
        advice.not_before
        for _, advice in found
        if advice.approach is Approach.WAIT and advice.not_before is not None
    ]
    going = sorted(free or found, key=lambda one: (one[0].newest_commit_at or _NEVER, one[1].risk))
    return Weighed(
        tuple(stats for stats, _ in going),
        max((advice for _, advice in going), key=_care),
        len(pauses),
        min(pauses, default=None),
        is_cold=all(is_cold(stats, now=now) for stats, _ in going),
    )


def is_cold(stats: PartitionStats, *, now: datetime) -> bool:
    """Whether nobody has written to a partition for a day: what is put right there stays right."""
    newest = stats.newest_commit_at
    return newest is not None and now - newest >= COLD_AFTER


def _care(advice: Advice) -> tuple[int, float]:
    return _CAREFUL.index(advice.approach), advice.risk
