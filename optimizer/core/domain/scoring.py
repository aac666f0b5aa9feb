"""Ranks tasks, and selects those that fit into today's budget.

The score is what is gained (files and delete files that readers no longer open, and files put in
order, weighed by how often the table is read) over what it costs. A task's place in the line is its
age plus a head start for its score, and the head start is less than `PATIENCE`: whoever comes that
much later ends up behind, whatever its score. So no task is overtaken for ever. In the budget the
same holds: once a task has waited for `PATIENCE`, nobody behind it takes what it saves for.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from math import log1p

from optimizer.core.domain.estimates import Estimate, Speed, start_cost

PATIENCE = timedelta(hours=24)
MIDDLING = 10_000.0  # the score that gets half of the head start
DELETE_FILE_WEIGHT = 2.0  # each is opened for many data files
ORDER_WEIGHT = 0.5
COLD_BONUS = 1.5
_HIGH, _NORMAL = 0.75, 0.25  # shares of the longest head start
BEGUN = "begun"
SHARING = 8  # tasks that share the start of one application


class Priority(StrEnum):
    """How early a waiting task comes, in words."""

    HIGH = "High"
    NORMAL = "Normal"
    LOW = "Low"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A task that waits, with all that its place depends on."""

    key: str
    estimate: Estimate
    since: datetime
    reads_per_day: float | None = None  # None: not known
    is_cold: bool = False
    risk: float = 0.0


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is done with a candidate in this round; `reason` says why if it is not begun."""

    candidate: Candidate
    code: str
    reason: str = ""

    @property
    def is_begun(self) -> bool:
        """Whether it begins now."""
        return self.code == BEGUN


def gain_of(estimate: Estimate, *, reads_per_day: float | None) -> float:
    """Return what readers save: files not opened, and files that can be skipped."""
    files = (
        estimate.n_files_removed
        + DELETE_FILE_WEIGHT * estimate.n_delete_files_removed
        + ORDER_WEIGHT * estimate.n_files_ordered
    )
    return files * (1.0 + log1p(reads_per_day or 0.0))


def cost_of(estimate: Estimate, *, speed: Speed) -> float:
    """Return its GB-hours with its share of an application's start."""
    return estimate.gb_hours + start_cost(speed).gb_hours / SHARING


def score_of(candidate: Candidate, *, speed: Speed) -> float:
    """Return gain over cost; what may be lost to other writers counts for less, cold for more."""
    gain = gain_of(candidate.estimate, reads_per_day=candidate.reads_per_day)
    cold = COLD_BONUS if candidate.is_cold else 1.0
    return (
        gain * (1.0 - candidate.risk) * cold / max(cost_of(candidate.estimate, speed=speed), 1e-9)
    )


def place_of(score: float, *, since: datetime) -> float:
    """Return a place in the line that never changes: the greater, the earlier it comes.

    Of two tasks the one with the higher score comes first, unless the other is older by more than
    their head starts differ; never by `PATIENCE` or more.
    """
    head_start = PATIENCE.total_seconds() * score / (score + MIDDLING) if score > 0 else 0.0
    return head_start - since.timestamp()


def priority_of(score: float) -> Priority:
    """Return the priority by the share of the longest head start that a score is worth."""
    share = score / (score + MIDDLING) if score > 0 else 0.0
    if share >= _HIGH:
        return Priority.HIGH
    return Priority.NORMAL if share >= _NORMAL else Priority.LOW


def rank(candidates: Iterable[Candidate], *, speed: Speed) -> list[Candidate]:
    """Put candidates in the order in which they are done."""
    return sorted(
        candidates,
        key=lambda one: (-place_of(score_of(one, speed=speed), since=one.since), one.key),
    )


def choose(
    ranked: Iterable[Candidate],
    *,
    budget: float | None,
    whole_budget: float | None,
    speed: Speed,
    now: datetime,
) -> list[Chosen]:
    """Choose what begins now within the GB-hours that are left of a budget; None is no limit.

    `whole_budget` is a day's: what costs more than that never fits and waits for a person, and
    holds nobody up.
    """
    left = budget
    saving_for: Candidate | None = None
    out: list[Chosen] = []
    for one in ranked:
        cost = cost_of(one.estimate, speed=speed)
        if left is None:
            out.append(Chosen(one, BEGUN))
        elif whole_budget is not None and cost > whole_budget:
            out.append(Chosen(one, "too-dear", _too_dear(cost, whole_budget)))
        elif saving_for is not None:
            out.append(Chosen(one, "saving", _saving(saving_for, now)))
        elif cost <= left:
            left -= cost
            out.append(Chosen(one, BEGUN))
        else:
            if now - one.since >= PATIENCE:
                saving_for = one
            out.append(Chosen(one, "budget", _no_budget(cost, left)))
    return out


def _too_dear(cost: float, whole: float) -> str:
    return (
        f"It would cost {cost:.2f} GB-hours and the budget of a whole day is {whole:.2f}: raise "
        "the budget, or run it by hand for fewer partitions."
    )


def _no_budget(cost: float, left: float) -> str:
    return f"It would cost {cost:.2f} GB-hours and {left:.2f} are left of today's budget."


def _saving(other: Candidate, now: datetime) -> str:
    hours = (now - other.since).total_seconds() / 3600
    return f"The budget is saved for a task that has waited for {hours:.0f} hours."
