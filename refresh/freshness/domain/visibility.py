"""Decides whether a write is visible on every front end, for `GET /api/refresh/wait`.

Visible means: every front end that can still be asked by anybody has completed a refresh, begun
after the write, that covers it; or began again, with empty caches, after the write. A probe can
only disprove. Dead ones are left out and named; frozen ones may wake up with what they had, so
they count as not fresh.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from refresh.clusters.domain.frontends import FeState
from refresh.core.domain.versions import Dialect
from refresh.freshness.domain.coverage import CompletedRefresh, Wish, is_provable, missing


class Visibility(StrEnum):
    """What is known of the write on one front end."""

    VISIBLE = "VISIBLE"
    NOT_YET = "NOT_YET"
    DISPROVED = "DISPROVED"
    FROZEN = "FROZEN"
    EXCLUDED = "EXCLUDED"
    UNPROVABLE = "UNPROVABLE"


@dataclass(frozen=True, slots=True)
class Divergence:
    """A probe begun at this instant saw something else than the metastore had; in words."""

    at: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class FeRecord:
    """What the portal knows of one table on one front end.

    `empty_after`: an instant before which nothing in its caches was loaded (it began again later).
    """

    name: str
    state: FeState
    dialect: Dialect
    done: tuple[CompletedRefresh, ...] = ()
    empty_after: datetime | None = None
    divergence: Divergence | None = None


@dataclass(frozen=True, slots=True)
class FeVisibility:
    """The judgement of one front end and its reason."""

    name: str
    visibility: Visibility
    reason: str


@dataclass(frozen=True, slots=True)
class WaitAnswer:
    """The whole answer; `is_over` means that asking again before the time-out is of no use."""

    is_visible: bool
    is_over: bool
    may_go_on: bool
    fes: tuple[FeVisibility, ...]

    @property
    def excluded(self) -> tuple[str, ...]:
        """The dead ones, which were left out."""
        return tuple(fe.name for fe in self.fes if fe.visibility is Visibility.EXCLUDED)

    @property
    def lacking(self) -> tuple[str, ...]:
        """Those that keep the answer from being yes."""
        good = (Visibility.VISIBLE, Visibility.EXCLUDED)
        return tuple(fe.name for fe in self.fes if fe.visibility not in good)


def judge_wait(
    wish: Wish, fes: Sequence[FeRecord], *, deadline: datetime, is_strict: bool, now: datetime
) -> WaitAnswer:
    """Judge a request at an instant; without one live front end nothing is visible.

    When the deadline has passed a caller who asked for best effort may go on, and is told who
    lacks it; that is never said to be visible.
    """
    judged = tuple(judge(wish, fe) for fe in fes)
    counted = [fe.visibility for fe in judged if fe.visibility is not Visibility.EXCLUDED]
    is_visible = bool(counted) and all(one is Visibility.VISIBLE for one in counted)
    is_late = now >= deadline
    is_over = is_visible or is_late or Visibility.UNPROVABLE in counted
    return WaitAnswer(is_visible, is_over, is_visible or (is_late and not is_strict), judged)


def judge(wish: Wish, fe: FeRecord) -> FeVisibility:
    """Judge one front end."""
    visibility, reason = _judge(wish, fe)
    return FeVisibility(fe.name, visibility, reason)


def _judge(wish: Wish, fe: FeRecord) -> tuple[Visibility, str]:
    if fe.state is FeState.DEAD:
        return Visibility.EXCLUDED, "It is down; its caches are gone with it."
    if fe.state is FeState.FROZEN:
        return Visibility.FROZEN, "It does not answer, and may wake up with what it had cached."
    # What a probe contradicted must be loaded again after it, whatever was completed before.
    disproved_at = fe.divergence.at if fe.divergence else None
    since = max(filter(None, (wish.written_at, disproved_at)))
    if fe.empty_after is not None and fe.empty_after > since:
        return Visibility.VISIBLE, "It restarted after the write, with empty caches."
    if not is_provable(wish, dialect=fe.dialect):
        return (
            Visibility.UNPROVABLE,
            "This version renews partitions by name only: name those that were written.",
        )
    left = missing(wish, fe.done, dialect=fe.dialect, after=disproved_at)
    if not left:
        return Visibility.VISIBLE, "It completed a refresh that began after the write."
    if fe.divergence is not None and not missing(wish, fe.done, dialect=fe.dialect):
        return Visibility.DISPROVED, f"A probe contradicts it: {fe.divergence.reason}"
    return Visibility.NOT_YET, f"Not refreshed since the write: {named(left)}."


def named(left: Sequence[str], *, most: int = 3) -> str:
    """Name the first of what is missing."""
    words = [name or "the table" for name in left[:most]]
    return ", ".join(words) + (f" and {len(left) - most} more" if len(left) > most else "")
