"""Reads a Hudi table's timeline: whether it is whole, what is pending, and who is silent.

A timeline that is broken, or of a release that we do not know, is only spoken of: nothing is done
to its table.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from optimizer.hudi.inspect.domain.facts import (
    Action,
    FileGroupId,
    HudiInspection,
    HudiTable,
    Instant,
    InstantState,
    PendingPlan,
)

VERSIONS = (8, 9)  # of Hudi 1.0 to 1.2
LAYOUT = 2
WRITES = frozenset({Action.COMMIT, Action.DELTA_COMMIT, Action.REPLACE_COMMIT})
COMPACTIONS = frozenset({Action.COMPACTION, Action.LOG_COMPACTION})
PLANNED = COMPACTIONS | {Action.CLUSTERING}
_WRITE_TIMELINE = WRITES | PLANNED
_HEARTBEAT_MS, _MISSES = 60_000, 2  # Hudi's own defaults
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Unfit:
    """Why nothing is done to a table, in a code and in words."""

    code: str
    reason: str


def unfit(look: HudiInspection) -> Unfit | None:
    """Say why a table is left alone altogether; None if its services may be thought about."""
    return _unsupported(look.table) or _broken(look)


def pending(look: HudiInspection, actions: Iterable[Action]) -> tuple[Instant, ...]:
    """Return the instants of some actions that are not completed, oldest first."""
    wanted = frozenset(actions)
    found = (one for one in look.instants if one.is_pending and one.action in wanted)
    return tuple(sorted(found, key=lambda one: one.instant))


def completed(look: HudiInspection, actions: Iterable[Action]) -> tuple[Instant, ...]:
    """Return the completed instants of some actions, oldest first."""
    wanted = frozenset(actions)
    found = (one for one in look.instants if not one.is_pending and one.action in wanted)
    return tuple(sorted(found, key=lambda one: one.instant))


def plans_of(look: HudiInspection, actions: Iterable[Action]) -> tuple[PendingPlan, ...]:
    """Return the pending plans of some actions, oldest first."""
    wanted = frozenset(actions)
    found = (one for one in look.plans if one.action in wanted)
    return tuple(sorted(found, key=lambda one: one.instant))


def planned_groups(look: HudiInspection) -> dict[FileGroupId, PendingPlan]:
    """Return the file groups that sit in a pending plan: no other plan takes them meanwhile."""
    return {group: plan for plan in look.plans for group in plan.file_groups}


def first_write(look: HudiInspection) -> str | None:
    """Return the instant before which Hudi takes every instant for completed and archived."""
    saved = {one.instant for one in look.instants if one.action is Action.SAVEPOINT}
    return min(
        (
            one.instant
            for one in look.instants
            if not one.is_archived and one.action in _WRITE_TIMELINE and one.instant not in saved
        ),
        default=None,
    )


def last_write_at(look: HudiInspection) -> datetime | None:
    """When a writer last completed something, as far as the timeline was read."""
    return max(
        (one.completed_at for one in completed(look, WRITES) if one.completed_at is not None),
        default=None,
    )


def heartbeat_limit(table: HudiTable) -> timedelta:
    """Give how long a writer that keeps a heartbeat may be silent before Hudi takes it for dead."""
    interval = _whole(table.properties.get("hoodie.client.heartbeat.interval_in_ms"), _HEARTBEAT_MS)
    misses = _whole(table.properties.get("hoodie.client.heartbeat.tolerable.misses"), _MISSES)
    return timedelta(milliseconds=interval * misses)


@dataclass(frozen=True, slots=True)
class Silence:
    """How long nothing was heard of a pending instant, and what tells so."""

    instant: Instant
    since: datetime
    is_heartbeat: bool
    is_stuck: bool

    def words(self, now: datetime) -> str:
        """Say what is known of it."""
        told = "heartbeat" if self.is_heartbeat else "sign"
        minutes = max(now - self.since, timedelta()).total_seconds() / 60
        return (
            f"{self.instant.action} {self.instant.instant} is {self.instant.state}; its last "
            f"{told} is {minutes:.0f} minutes old."
        )


def silence_of(
    look: HudiInspection, instant: Instant, *, patience: timedelta, now: datetime
) -> Silence:
    """Judge a pending instant: by its heartbeat where it has one, else by its age.

    A plan that is only requested waits for someone to execute it, which is not being stuck.
    """
    waits = instant.state is InstantState.REQUESTED and instant.action in PLANNED | {Action.CLEAN}
    if instant.heartbeat_at is not None:
        since, limit = instant.heartbeat_at, heartbeat_limit(look.table)
    else:
        since, limit = instant.inflight_at or instant.requested_at, patience
    is_stuck = instant.is_pending and not waits and now - since > limit
    return Silence(instant, since, instant.heartbeat_at is not None, is_stuck)


def stuck(look: HudiInspection, *, patience: timedelta, now: datetime) -> tuple[Silence, ...]:
    """Return the instants that began, never ended and are silent, oldest first."""
    found = (
        silence_of(look, one, patience=patience, now=now)
        for one in pending(look, Action)
        if not one.is_archived
    )
    return tuple(one for one in found if one.is_stuck)


def _unsupported(table: HudiTable) -> Unfit | None:
    if table.version > max(VERSIONS):
        return Unfit(
            "unsupported",
            f"Its table version {table.version} is of a later Hudi than the one here, which knows "
            f"up to {max(VERSIONS)}. Nothing is done to it; bring Hudi up to date first.",
        )
    if table.version < min(VERSIONS) or table.layout_version != LAYOUT:
        return Unfit(
            "unsupported",
            f"Its table version is {table.version} and its timeline is of layout "
            f"{table.layout_version}, as Hudi 0.x writes them. Services are kept for versions "
            f"{min(VERSIONS)} to {max(VERSIONS)} with layout {LAYOUT}: let its writer upgrade the "
            "table (hoodie.write.auto.upgrade). Nothing is done to it until then.",
        )
    return None


def _broken(look: HudiInspection) -> Unfit | None:
    faults = [*look.table.faults, *_faults(look)]
    if not faults:
        return None
    more = f" And {len(faults) - _MOST_NAMED} more." if len(faults) > _MOST_NAMED else ""
    return Unfit(
        "broken",
        f"Its timeline is broken: {' '.join(faults[:_MOST_NAMED])}{more} Nothing is done to the "
        "table before a person has repaired it.",
    )


def _faults(look: HudiInspection) -> Iterable[str]:
    known = {one.instant for one in look.instants}
    for one in sorted(look.instants, key=lambda one: one.instant):
        if one.is_pending:
            continue
        if one.completed is None and not one.is_archived:
            yield f"{one.action} {one.instant} is completed and does not say when."
        elif one.completed is not None and one.completed < one.instant:
            yield f"{one.action} {one.instant} was completed before it was requested."
    for plan in look.plans:
        if plan.instant not in known:
            yield f"The plan {plan.instant} ({plan.action}) has no instant in the timeline."


def _whole(text: str | None, default: int) -> int:
    try:
        return max(1, int(text)) if text is not None else default
    except ValueError:
        return default
