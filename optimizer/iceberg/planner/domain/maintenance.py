"""Decides the upkeep of a table as a whole: manifests, snapshots, orphans and statistics.

A kind of upkeep is one row of `UPKEEP`, the decider, and one of `EXECUTORS` in the job
(`optimizer.iceberg.execution.jobs.optimize`). What a policy allows, how often it is tried, queue,
budget and pages come with them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from optimizer.core.domain.estimates import Estimate, Speed
from optimizer.core.domain.tasks import REWRITES, TaskKind
from optimizer.iceberg.inspect.domain.stats import TableStats
from optimizer.iceberg.planner.domain.estimates import (
    estimate_index,
    estimate_manifests,
    estimate_statistics,
)
from optimizer.iceberg.planner.domain.partition_rules import PartitionDecision
from optimizer.policies.domain.policy import Policy
from portal.lake.counts import count_words

REFUSED_FOR = timedelta(days=7)
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class LastTimes:
    """When each kind of work on the table was last done; `partitions` where known for one.

    `nothing` says when a kind last found nothing to do: it is not tried again before a commit.
    `failed` says when it last failed: upkeep is not tried again the same day.
    `refused` says when people last refused what it would remove.
    """

    table: Mapping[TaskKind, datetime] = field(default_factory=dict)
    partitions: Mapping[str, datetime] = field(default_factory=dict)
    nothing: Mapping[TaskKind, datetime] = field(default_factory=dict)
    failed: Mapping[TaskKind, datetime] = field(default_factory=dict)
    refused: Mapping[TaskKind, datetime] = field(default_factory=dict)

    def rewritten(self, partition: str) -> datetime | None:
        """When a partition was last rewritten, by any kind; as the table where it is not known."""
        known = self.partitions.get(partition)
        if known is not None:
            return known
        return max((at for kind, at in self.table.items() if kind in REWRITES), default=None)


@dataclass(frozen=True, slots=True)
class Upkeep:
    """How one kind of upkeep is decided: `need` says why a table needs it, empty if it does not."""

    kind: TaskKind
    need: Callable[[TableStats, Policy], str]
    every: timedelta = timedelta(days=1)
    estimate: Callable[..., Estimate] | None = None  # of (table, speed=); None: not known before


def upkeep(
    table: TableStats, policy: Policy, last: LastTimes, now: datetime
) -> Iterable[PartitionDecision]:
    """Yield the decisions on a table's upkeep; kinds that its policy does not allow say nothing."""
    for one in UPKEEP:
        kind = one.kind
        reason = one.need(table, policy) if kind in policy.kinds else ""
        if not reason:
            continue
        every = max(one.every, _DAY)
        ended = _lately(kind, last, now - one.every, now - _DAY)
        refused = last.refused.get(kind)
        if refused is not None and now - refused < REFUSED_FOR:
            reason = f"{kind} was refused by people less than {REFUSED_FOR.days} days ago."
            yield PartitionDecision(None, None, "refused", reason)
        elif ended is None:
            yield PartitionDecision(None, kind, "upkeep", reason)
        else:
            code, words = ended
            yield PartitionDecision(
                None, None, code, f"{kind} {words} less than {every.days} days ago."
            )


def upkeep_estimate(kind: TaskKind, table: TableStats, *, speed: Speed) -> Estimate | None:
    """Estimate a kind of upkeep of a table; None where the kind is none, or nothing is known."""
    for one in UPKEEP:
        if one.kind is kind and one.estimate is not None:
            return one.estimate(table, speed=speed)
    return None


def _lately(
    kind: TaskKind, last: LastTimes, since: datetime, a_day_ago: datetime
) -> tuple[str, str] | None:
    """Say how the kind ended lately, if it did.

    What a table needs is told from few numbers here: where the job, which looks closer, found
    nothing to do or failed, it would do so again.
    """
    for times, code, words, after in (
        (last.table, "done", "was done", since),
        (last.nothing, "tried", "found nothing to do", since),
        (last.failed, "failed", "failed", min(since, a_day_ago)),
    ):
        at = times.get(kind)
        if at is not None and at > after:
            return code, words
    return None


def _manifests(table: TableStats, policy: Policy) -> str:
    # A manifest per eight megabytes is Iceberg's own aim; here their number alone is known.
    if table.n_manifests < policy.manifests or table.n_manifests <= table.n_files // 1_000 + 1:
        return ""
    return (
        f"{table.n_manifests} manifests for {table.n_files} files; {policy.manifests} are allowed."
    )


def _expiry(table: TableStats, policy: Policy) -> str:
    if table.n_snapshots <= policy.keep_snapshots:
        return ""
    return (
        f"{count_words(table.n_snapshots, 'snapshot')}; those older than {policy.expire_days} days "
        f"can be removed, {policy.keep_snapshots} stay."
    )


def _orphans(table: TableStats, policy: Policy) -> str:
    if not table.n_files:
        return ""
    return (
        f"Files that no snapshot knows and that are older than {policy.orphan_days} days can "
        "be removed."
    )


_STATISTICS_EVERY = timedelta(days=7)


def _statistics(table: TableStats, policy: Policy) -> str:
    if not table.n_files:
        return ""
    return f"Column statistics are older than {_STATISTICS_EVERY.days} days or missing."


def _index(table: TableStats, policy: Policy) -> str:
    if not table.n_files or not policy.index_columns or table.is_indexed:
        return ""
    columns = ", ".join(map(str, policy.index_columns))
    return f"Data files may lack an index of {columns}."


def _cube(table: TableStats, policy: Policy) -> str:
    if not table.n_cubes_behind:
        return ""
    return f"{count_words(table.n_cubes_behind, 'cube')} of the table may not cover all its files."


UPKEEP = (
    Upkeep(TaskKind.MANIFESTS, _manifests, estimate=estimate_manifests),
    Upkeep(TaskKind.EXPIRE, _expiry),
    Upkeep(TaskKind.ORPHANS, _orphans),
    Upkeep(TaskKind.STATISTICS, _statistics, _STATISTICS_EVERY, estimate_statistics),
    # Whether there is anything new is known: nothing has to pass but the day of a failure.
    Upkeep(TaskKind.INDEX, _index, timedelta(0), estimate_index),
    Upkeep(TaskKind.CUBE, _cube, timedelta(0)),
)
"""Every kind of upkeep, in the order in which it is decided and told of."""
