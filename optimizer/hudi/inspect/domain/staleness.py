"""Computes a merge-on-read table's read-optimized view lag, and whether it will end.

The view reads base files only: what stands in logs is not seen before a compaction. A writer that
schedules compactions does so after its own commits, so once it falls silent the last ones wait for
ever, whatever the thresholds say.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from optimizer.core.domain.sizes import size_words
from optimizer.hudi.inspect.domain.damage import spared
from optimizer.hudi.inspect.domain.facts import (
    FileSlice,
    HudiInspection,
    TableType,
    Uncompacted,
    plain,
)
from optimizer.hudi.inspect.domain.findings import (
    MEND_FIRST,
    Code,
    Finding,
    RecoveryAction,
    Severity,
    finding,
    remedy_of,
    span_words,
)
from optimizer.hudi.inspect.domain.timeline import (
    COMPACTIONS,
    last_write_at,
    planned_groups,
    plans_of,
)
from optimizer.hudi.maintenance.domain.services import may
from optimizer.hudi.maintenance.domain.tasks import Service, Step
from optimizer.policies.domain.hudi_policy import HudiPolicy
from portal.lake.counts import count_words


@dataclass(frozen=True, slots=True)
class Staleness:
    """What the read-optimized view does not show: delta commits, and in how many file groups."""

    commits: tuple[Uncompacted, ...]  # oldest first
    n_groups: int
    n_unplanned: int  # of these groups, in no pending plan of compaction
    log_bytes: int

    @property
    def since(self) -> datetime:
        """When the oldest of them was completed: the view shows nothing newer in full."""
        return min(one.completed_at for one in self.commits)

    def behind(self, now: datetime) -> timedelta:
        """How far the view lies behind."""
        return max(now - self.since, timedelta())


def staleness_of(look: HudiInspection) -> Staleness | None:
    """Return what the read-optimized view lacks; None if it lacks nothing."""
    if look.table.table_type is TableType.COPY_ON_WRITE or not look.uncompacted:
        return None
    with_logs = [one for one in look.slices if one.n_logs]
    return Staleness(
        tuple(sorted(look.uncompacted, key=lambda one: one.instant)),
        len(with_logs),
        len(unplanned(look)),
        sum(one.log_bytes for one in with_logs),
    )


def unplanned(look: HudiInspection) -> tuple[FileSlice, ...]:
    """Return the latest slices with logs that no pending plan takes."""
    planned = planned_groups(look)
    return tuple(one for one in look.slices if one.n_logs and one.group not in planned)


def unplanned_commits(look: HudiInspection) -> tuple[Uncompacted, ...]:
    """Return the delta commits that stand in those slices, as far as their logs' instants tell."""
    free = unplanned(look)
    oldest = min((one.oldest_log_instant for one in free if one.oldest_log_instant), default=None)
    newest = max((one.newest_log_instant for one in free if one.newest_log_instant), default=None)
    if oldest is None or newest is None:
        return ()
    found = (one for one in look.uncompacted if oldest <= one.instant <= newest)
    return tuple(sorted(found, key=lambda one: one.instant))


def stale_view(look: HudiInspection, policy: HudiPolicy, now: datetime) -> Iterable[Finding]:
    """Say that the read-optimized view lies behind for longer than the policy allows."""
    stale = staleness_of(look)
    if stale is None or stale.behind(now) <= policy.stale_after:
        return
    written = last_write_at(look)
    is_silent = stale.n_unplanned > 0 and written is not None and now - written > policy.stale_after
    silent = (
        f" Nothing was written for {span_words(now - written)}, so the writer schedules none."
        if is_silent and written is not None
        else ""
    )
    is_waiting = stale.n_unplanned == 0
    yield finding(
        Code.STALE_VIEW,
        Severity.WARNING if is_waiting else Severity.CRITICAL,
        f"The read-optimized view is {span_words(stale.behind(now))} behind: "
        f"{count_words(len(stale.commits), 'delta commit')} since {stale.since:%Y-%m-%d %H:%M} UTC "
        f"are only in logs ({size_words(stale.log_bytes)} in "
        f"{count_words(stale.n_groups, 'file group')}, {_unplanned(stale.n_unplanned)}); "
        f"{span_words(policy.stale_after)} are allowed.{silent}",
        [plain(one) for one in stale.commits],
        _remedy(look, policy, is_waiting=is_waiting),
    )


def _remedy(look: HudiInspection, policy: HudiPolicy, *, is_waiting: bool) -> RecoveryAction:
    if is_waiting:
        step, words = Step.EXECUTE, "Execute the pending plans, oldest first."
        instants = spared(look, (one.instant for one in plans_of(look, COMPACTIONS)))
        if not instants:
            return RecoveryAction(MEND_FIRST, holds=True)
    else:
        step, words = Step.SCHEDULE, "Schedule a compaction of what no plan takes, and execute it."
        instants = ()
    ruling = may(look, policy, Service.COMPACTION, step)
    return remedy_of(ruling, Service.COMPACTION, step, words, instants)


def _unplanned(n: int) -> str:
    return f"{n:,} of them in no plan" if n else "all of them in plans"
