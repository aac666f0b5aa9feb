"""Decides what is done to a table now, to which partitions, and the reason for each decision.

Statistics and a policy come in; every partition gets a decision in words, done or not. The rules of
one partition are `partition_rules.py`. What begins when is not decided here: blackout windows are
`hold_reason`, other writers `conflicts.py`, order and budget `scoring.py`.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from math import inf

from optimizer.core.domain.tasks import TaskKind
from optimizer.iceberg.inspect.domain.stats import PartitionStats, TableStats
from optimizer.iceberg.planner.domain.maintenance import LastTimes, upkeep
from optimizer.iceberg.planner.domain.partition_rules import Case, PartitionDecision, of_partition
from optimizer.policies.domain.policy import Policy, contradiction

_PRECEDENCE = (
    TaskKind.FULL,
    TaskKind.CLUSTER,
    TaskKind.MAJOR,
    TaskKind.MINOR,
    TaskKind.DELETES,
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """One task: a kind of work on some partitions (None: the whole table), and why."""

    kind: TaskKind
    partitions: tuple[PartitionStats, ...] | None
    reason: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to be done, at most one task a kind, and a decision on everything."""

    proposals: tuple[Proposal, ...]
    decisions: tuple[PartitionDecision, ...]

    @property
    def words(self) -> str:
        """All of it in one sentence or two: what is done, or why nothing is."""
        if self.proposals:
            return " ".join(f"{one.kind}: {one.reason}" for one in self.proposals)
        return _most_common(self.decisions) if self.decisions else "The table has no files."


def decide(
    partitions: Sequence[PartitionStats],
    table: TableStats,
    *,
    policy: Policy,
    last: LastTimes,
    now: datetime,
) -> Decision:
    """Decide what a table needs; the same arguments give the same decision."""
    refused = _refused(policy)
    if refused is not None:
        return Decision((), (refused,))
    decisions = [
        _unless_tried(of_partition(_case(one, policy, last, now)), one, last) for one in partitions
    ]
    kept_up = list(upkeep(table, policy, last, now))
    return Decision((*_tasks(partitions, decisions), *_whole(kept_up)), (*decisions, *kept_up))


def hold_reason(policy: Policy, *, zone: tzinfo, now: datetime) -> tuple[str, datetime] | None:
    """Say why nothing of a table begins at this hour, and until when; None if it may."""
    return None if policy.quiet is None else policy.quiet.hold(now, zone)


def _refused(policy: Policy) -> PartitionDecision | None:
    if not policy.is_on:
        return PartitionDecision(None, None, "off", "The optimizer is switched off for this table.")
    wrong = contradiction(policy)
    if wrong is not None:
        return PartitionDecision(
            None, None, "contradiction", f"Its policy contradicts itself: {wrong.message}"
        )
    return None


def _case(stats: PartitionStats, policy: Policy, last: LastTimes, now: datetime) -> Case:
    rewritten = last.rewritten(stats.partition)
    intervals = (now - rewritten) / policy.min_interval if rewritten else inf
    full = last.table.get(TaskKind.FULL)
    is_full_due = policy.full_days > 0 and (
        full is None or now - full >= timedelta(days=policy.full_days)
    )
    return Case(stats, policy, max(intervals, 0.0), is_full_due)


def _unless_tried(
    decision: PartitionDecision, stats: PartitionStats, last: LastTimes
) -> PartitionDecision:
    tried = last.nothing.get(decision.kind) if decision.kind else None
    newest = stats.newest_commit_at
    if tried is None or (newest is not None and newest > tried):
        return decision
    reason = (
        f"{decision.kind} found nothing to do at {tried:%Y-%m-%d %H:%M} UTC; it is tried again "
    )
    return replace(decision, kind=None, code="tried", reason=f"{reason}after the next commit.")


def _tasks(
    partitions: Sequence[PartitionStats], decisions: Sequence[PartitionDecision]
) -> Iterable[Proposal]:
    for kind in _PRECEDENCE:
        chosen = [
            (stats, decision)
            for stats, decision in zip(partitions, decisions, strict=True)
            if decision.kind is kind
        ]
        if chosen:
            stats = tuple(one for one, _ in chosen)
            yield Proposal(kind, stats, joined([decision for _, decision in chosen]))


def _whole(decisions: Iterable[PartitionDecision]) -> Iterable[Proposal]:
    for one in decisions:
        if one.kind is not None:
            yield Proposal(one.kind, None, one.reason)


def joined(decisions: Sequence[PartitionDecision]) -> str:
    """Say of one of some partitions why it is done, and of how many more."""
    first = decisions[0]
    where = f"{first.partition}: " if first.partition else ""
    more = f" And {len(decisions) - 1} more partitions." if len(decisions) > 1 else ""
    return f"{where}{first.reason}{more}"


def _most_common(decisions: Sequence[PartitionDecision]) -> str:
    # Of the table as a whole only where nothing is known of its partitions.
    found = [one for one in decisions if one.partition is not None] or decisions
    ((code, count),) = Counter(one.code for one in found).most_common(1)
    first = next(one for one in found if one.code == code)
    of = f" So it is for {count} of {len(found)} partitions." if len(found) > 1 else ""
    return f"{first.reason}{of}"
