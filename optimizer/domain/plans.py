"""What would be done to a table now, what would it cost, and why is the rest not done?

A dry run: it decides exactly as the optimizer does, begins nothing, and can be shown, stored or
compared. Speeds are measured ones and come as an argument; before the first task has been measured
there are none, and a plan says so instead of making up seconds.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo

from optimizer.domain.conflicts import Advice, Approach, CommitFact, advise, history_of
from optimizer.domain.deciding import decide, hold_reason
from optimizer.domain.estimates import (
    Estimate,
    Speed,
    estimate_manifests,
    estimate_statistics,
    estimate_task,
    start_cost,
)
from optimizer.domain.policy import Policy
from optimizer.domain.stats import PartitionStats, TableStats
from optimizer.domain.tasks import DESTRUCTIVE, REWRITES, TaskKind
from optimizer.domain.verdicts import LastTimes, Proposal, Verdict

_UNMEASURED = Speed(1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class TableFacts:
    """All that is known of a table when a plan is made."""

    partitions: Sequence[PartitionStats]
    table: TableStats
    commits: Sequence[CommitFact] = ()
    last: LastTimes = field(default_factory=LastTimes)


@dataclass(frozen=True, slots=True)
class PlannedTask:
    """One task of a plan: the paths of its partitions (None: the whole table), and its costs.

    `estimate.seconds` and `gb_hours` are 0 where no speed has been measured yet (`is_timed`).
    """

    kind: TaskKind
    partitions: tuple[str, ...] | None
    reason: str
    estimate: Estimate
    is_timed: bool
    advice: Advice | None = None
    needs_approval: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be done, what holds it, what it costs in all, and what is not done."""

    tasks: tuple[PlannedTask, ...]
    total: Estimate
    held: str
    not_before: datetime | None
    verdicts: tuple[Verdict, ...]
    words: str  # all of it in a sentence or two, as the table's page has it

    @property
    def not_done(self) -> Mapping[str, int]:
        """How many partitions each reason keeps from being done, the commonest first."""
        counts = Counter(one.reason for one in self.verdicts if one.kind is None)
        return dict(counts.most_common())


def make_plan(
    facts: TableFacts, *, policy: Policy, speed: Speed | None, zone: tzinfo, now: datetime
) -> Plan:
    """Plan a table's tasks without beginning any; one application's start is in the total."""
    decision = decide(facts.partitions, facts.table, policy=policy, last=facts.last, now=now)
    tasks = tuple(
        _planned(one, facts, policy=policy, speed=speed, now=now) for one in decision.proposals
    )
    begin = [start_cost(speed)] if speed and tasks else []
    total = sum((one.estimate for one in tasks), start=sum(begin, start=Estimate()))
    held, until = hold_reason(policy, zone=zone, now=now) or ("", None)
    return Plan(tasks, total, held, until, decision.verdicts, decision.words)


def _planned(
    proposal: Proposal,
    facts: TableFacts,
    *,
    policy: Policy,
    speed: Speed | None,
    now: datetime,
) -> PlannedTask:
    estimate = _estimate(proposal, facts.table, policy=policy, speed=speed)
    advice = None
    if proposal.partitions and proposal.kind in REWRITES and speed is not None:
        advice = _worst(proposal, facts.commits, policy=policy, speed=speed, now=now)
    names = proposal.partitions
    return PlannedTask(
        proposal.kind,
        None if names is None else tuple(one.partition for one in names),
        proposal.reason,
        estimate,
        is_timed=speed is not None,
        advice=advice,
        needs_approval=proposal.kind in DESTRUCTIVE,
    )


def _estimate(
    proposal: Proposal, table: TableStats, *, policy: Policy, speed: Speed | None
) -> Estimate:
    known = speed or _UNMEASURED
    if proposal.kind is TaskKind.MANIFESTS:
        found = estimate_manifests(table, speed=known)
    elif proposal.kind is TaskKind.STATISTICS:
        found = estimate_statistics(table, speed=known)
    elif proposal.partitions is None:
        return Estimate()
    else:
        found = estimate_task(
            proposal.kind, proposal.partitions, target_bytes=policy.target_bytes, speed=known
        )
    return found if speed is not None else replace(found, seconds=0.0, gb_hours=0.0)


def _worst(
    proposal: Proposal,
    commits: Sequence[CommitFact],
    *,
    policy: Policy,
    speed: Speed,
    now: datetime,
) -> Advice:
    """Give the most careful advice of a task's partitions, each with its own time and writers."""
    order = (Approach.NOW, Approach.SMALL_GROUPS, Approach.WAIT)
    found = [
        advise(
            history_of(
                commits, partition=one.partition, newest_commit_at=one.newest_commit_at, now=now
            ),
            seconds=estimate_task(
                proposal.kind, (one,), target_bytes=policy.target_bytes, speed=speed
            ).seconds,
            caution=policy.caution,
            since=now,
            now=now,
        )
        for one in proposal.partitions or ()
    ]
    return max(found, key=lambda one: (order.index(one.approach), one.risk))
