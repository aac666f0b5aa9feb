"""Status of a table on a front end, with its reason: fresh, stale, diverged, cold or unknown.

The worst comes first: an updated partition whose refresh failed or waits is answered wrongly now. A
new or dropped one is only missing, or is loaded when it is asked for.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from refresh.changes.domain.changes import PartitionChange
from refresh.clusters.domain.frontends import FeState
from refresh.freshness.domain.coverage import Wish, is_provable, missing
from refresh.freshness.domain.pending_refresh import TableChanges, pending_for
from refresh.freshness.domain.visibility import FeRecord, named


class Freshness(StrEnum):
    """The states of a table on a front end."""

    FRESH = "FRESH"
    STALE = "STALE"
    DIVERGED = "DIVERGED"
    COLD = "COLD"
    UNKNOWN = "UNKNOWN"


class Danger(StrEnum):
    """What a query sees there now."""

    WRONG = "WRONG"
    INCOMPLETE = "INCOMPLETE"
    NONE = "NONE"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class Standing:
    """How a table stands on a front end; `behind_since` is the oldest change it lacks."""

    freshness: Freshness
    danger: Danger
    reason: str
    stale_since: datetime | None = None

    @property
    def rank(self) -> int:
        """Sorts what must be seen first to the front."""
        return rank_of(self.freshness, self.danger)


def rank_of(freshness: Freshness, danger: Danger) -> int:
    """Return the place in a list that shows first what must be seen first, as one number."""
    return _DANGERS.index(danger) * len(_STATES) + _STATES.index(freshness)


_DANGERS = (Danger.WRONG, Danger.UNKNOWN, Danger.INCOMPLETE, Danger.NONE)
_STATES = (
    Freshness.DIVERGED,
    Freshness.STALE,
    Freshness.UNKNOWN,
    Freshness.COLD,
    Freshness.FRESH,
)


def standing(changes: TableChanges, fe: FeRecord) -> Standing:
    """Judge a table on a front end from what changed, what completed, and what a probe saw."""
    away = standing_away(fe.state)
    if away is not None:
        return away
    lacking = pending_for(fe, changes)
    since = min((at for at, _ in lacking.values()), default=None)
    if fe.divergence is not None and not _is_renewed(changes, fe, since=fe.divergence.at):
        reason = f"A probe contradicts the metastore: {fe.divergence.reason}"
        stale_since = min(filter(None, (since, fe.divergence.at)))
        return Standing(Freshness.DIVERGED, Danger.WRONG, reason, stale_since)
    if lacking:
        return Standing(
            Freshness.STALE,
            _danger(touch for _, touch in lacking.values()),
            f"Changed and not refreshed since: {named(sorted(lacking))}.",
            since,
        )
    if _is_cold(changes, fe):
        return Standing(Freshness.COLD, Danger.NONE, "It restarted: what is asked for is loaded.")
    if is_renewed_whole(changes, fe):
        return Standing(Freshness.FRESH, Danger.NONE, "Every known change was refreshed.")
    return Standing(
        Freshness.UNKNOWN,
        Danger.UNKNOWN,
        "What it had cached before the portal watched was never renewed as a whole.",
    )


def standing_away(state: FeState) -> Standing | None:
    """Return how every table stands on a front end that is down or frozen; None if it lives."""
    if state is FeState.ALIVE:
        return None
    word = "down" if state is FeState.DEAD else "frozen or cut off"
    danger = Danger.NONE if state is FeState.DEAD else Danger.UNKNOWN
    return Standing(Freshness.UNKNOWN, danger, f"The front end is {word}.")


def is_renewed_whole(changes: TableChanges, fe: FeRecord) -> bool:
    """Whether all that a front end may have cached before the portal watched was renewed since."""
    return _is_renewed(changes, fe, since=changes.tracked_since)


def _danger(touches: Iterable[PartitionChange | None]) -> Danger:
    return Danger.WRONG if PartitionChange.UPDATED in set(touches) else Danger.INCOMPLETE


def _is_cold(changes: TableChanges, fe: FeRecord) -> bool:
    began = fe.empty_after
    if began is None or began < changes.tracked_since:
        return False
    return not any(one.began_at > began for one in fe.done)


def _is_renewed(changes: TableChanges, fe: FeRecord, *, since: datetime) -> bool:
    """Whether everything that could be cached before an instant was renewed after it."""
    if fe.empty_after is not None and fe.empty_after >= since:
        return True
    wish = Wish(since, changes.is_partitioned, changes.names)
    return is_provable(wish, dialect=fe.dialect) and not missing(wish, fe.done, dialect=fe.dialect)
