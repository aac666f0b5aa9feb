"""Decides whether a period is ready, ready by its rule, or waiting, each with a reason.

A rule only ever says that something is ready; what is ready stays so, whatever the rule would say.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from portal.lake.readiness import is_ready
from quality.freshness.domain.cadence import Period

ROWS, FILES = "numRows", "numFiles"


class Outcome(StrEnum):
    """How a period stands."""

    MISSING = "MISSING"
    WAITS = "WAITS"
    SET = "SET"
    READY = "READY"


@dataclass(frozen=True, slots=True)
class Rule:
    """What must hold before the flag is set without anybody saying so; None is not asked.

    All that is asked must hold. A rule that asks nothing sets nothing: only people and jobs do.
    """

    delay: timedelta | None = None
    min_rows: int | None = None
    min_files: int | None = None

    @property
    def sets(self) -> bool:
        """Whether it ever sets a flag."""
        return (self.delay, self.min_rows, self.min_files) != (None, None, None)


@dataclass(frozen=True, slots=True)
class Source:
    """A table that the period is made of, and how far its pipeline is."""

    name: str
    applied_until: datetime | None
    """Everything before it is there; None: that cannot be said now, for `reason`."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """What the metastore has of a period: its partitions, by how many their flag says ready.

    `n_rows` and `n_files` are sums of what the partitions' parameters say; None: one says nothing.
    """

    n_partitions: int = 0
    n_unready: int = 0
    n_rows: int | None = None
    n_files: int | None = None

    @classmethod
    def of(cls, parameters: Iterable[Mapping[str, str]]) -> "Seen":
        """Read the parameters of all partitions of one period."""
        every = list(parameters)
        return cls(
            len(every),
            sum(not is_ready(one) for one in every),
            _sum(one.get(ROWS) for one in every),
            _sum(one.get(FILES) for one in every),
        )


@dataclass(frozen=True, slots=True)
class FreshnessDecision:
    """What is so, or what is to be done, and why."""

    outcome: Outcome
    reason: str


def rule_on(
    rule: Rule,
    period: Period,
    seen: Seen,
    *,
    sources: Sequence[Source] = (),
    held_back: Sequence[str] = (),
    now: datetime,
) -> FreshnessDecision:
    """Decide on one period from what the metastore has of it.

    Where the rule has a delay, pipelines must have applied `sources` up to it. `held_back` has
    what else keeps the period from being ready by rule.
    """
    if not seen.n_partitions:
        return FreshnessDecision(Outcome.MISSING, "The metastore has no partition of it yet.")
    if not seen.n_unready:
        return FreshnessDecision(Outcome.READY, "No partition of it is marked as not ready.")
    if not rule.sets:
        return FreshnessDecision(
            Outcome.WAITS, "Nobody has said yet that it is ready; no rule does."
        )
    lacks = [
        *_time_lacks(rule, period, now=now),
        *_source_lacks(rule, period, sources),
        *_count_lacks(rule, seen),
        *held_back,
    ]
    if lacks:
        return FreshnessDecision(Outcome.WAITS, f"The rule waits: {'; '.join(lacks)}.")
    held = [*_held(rule, seen), *(f"{one.name} is applied up to then" for one in sources)]
    return FreshnessDecision(Outcome.SET, f"The rule holds: {'; '.join(held)}.")


def _time_lacks(rule: Rule, period: Period, *, now: datetime) -> list[str]:
    if rule.delay is None or now >= period.end + rule.delay:
        return []
    return [f"its time and the delay of {_minutes(rule.delay)} are not over"]


def _source_lacks(rule: Rule, period: Period, sources: Sequence[Source]) -> list[str]:
    if rule.delay is None:
        return []
    lacks = []
    for one in sources:
        if one.applied_until is None:
            lacks.append(f"{one.name}: {one.reason}")
        elif one.applied_until < period.end + rule.delay:
            lacks.append(f"{one.name} is applied up to {one.applied_until:%Y-%m-%d %H:%M:%S} UTC")
    return lacks


def _count_lacks(rule: Rule, seen: Seen) -> list[str]:
    lacks = []
    for least, count, what in (
        (rule.min_rows, seen.n_rows, "rows"),
        (rule.min_files, seen.n_files, "files"),
    ):
        if least is not None and count is None:
            lacks.append(f"the metastore holds no number of {what}")
        elif least is not None and count is not None and count < least:
            lacks.append(f"{count:,} {what} of at least {least:,}")
    return lacks


def _held(rule: Rule, seen: Seen) -> list[str]:
    held = []
    if rule.delay is not None:
        held.append(f"its time and the delay of {_minutes(rule.delay)} are over")
    if rule.min_rows is not None:
        held.append(f"{seen.n_rows:,} rows of at least {rule.min_rows:,}")
    if rule.min_files is not None:
        held.append(f"{seen.n_files:,} files of at least {rule.min_files:,}")
    return held


def _minutes(span: timedelta) -> str:
    return f"{int(span.total_seconds()) // 60} min"


def _sum(words: Iterable[str | None]) -> int | None:
    """Add what parameters say; -1 and whatever is no number mean that it is not known."""
    total = 0
    for word in words:
        if word is None or not (word.isascii() and word.isdigit()):
            return None
        total += int(word)
    return total
