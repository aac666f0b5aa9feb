"""Makes a table's dry run: what would be done now, its cost, and why the rest is not done.

A dry run: it decides exactly as the optimizer does, begins nothing, and can be shown, stored or
compared. Speeds are measured ones and come as an argument; before the first task has been measured
there are none, and a plan says so instead of making up seconds.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo

from optimizer.core.domain.estimates import UNMEASURED, Estimate, Speed, start_cost
from optimizer.core.domain.tasks import DESTRUCTIVE, REWRITES, TaskKind
from optimizer.iceberg.inspect.domain.stats import PartitionStats, TableStats
from optimizer.iceberg.planner.domain.conflicts import (
    LONGEST_WAIT,
    Advice,
    Changes,
    CommitFact,
    Weighed,
    advise,
    weigh,
)
from optimizer.iceberg.planner.domain.deciding import Proposal, decide, hold_reason, joined
from optimizer.iceberg.planner.domain.estimates import estimate_task
from optimizer.iceberg.planner.domain.maintenance import LastTimes, upkeep_estimate
from optimizer.iceberg.planner.domain.partition_rules import PartitionDecision
from optimizer.policies.domain.policy import Policy

# Planning, a Spark stage and the commit, however few bytes: so long others may come between.
LEAST_SECONDS = 5.0
_LEFT_OUT = "Other writers change it too often: it waits until they pause."


@dataclass(frozen=True, slots=True)
class TableFacts:
    """All that is known of a table when a plan is made.

    `waits_since` is since when some partition has been left for later because of other writers,
    `tried_at` when a rewrite of the table last ended, however it did.
    """

    partitions: Sequence[PartitionStats]
    table: TableStats
    commits: Sequence[CommitFact] = ()
    last: LastTimes = field(default_factory=LastTimes)
    waits_since: datetime | None = None
    tried_at: datetime | None = None

    def waiting_since(self, now: datetime) -> datetime:
        """Since when partitions wait; from now on where those of before had their turn."""
        since = self.waits_since
        if since is None or (self.tried_at and self.tried_at >= since + LONGEST_WAIT):
            return now
        return since


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
    is_cold: bool = False
    needs_approval: bool = False

    @property
    def not_before(self) -> datetime | None:
        """Until when all of it waits for other writers to pause; None: it may begin."""
        return self.advice.not_before if self.advice else None


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be done, what holds it, what it costs in all, and what is not done."""

    tasks: tuple[PlannedTask, ...]
    total: Estimate
    held: str
    not_before: datetime | None
    decisions: tuple[PartitionDecision, ...]
    words: str  # all of it in a sentence or two, as the table's page has it
    again_at: datetime | None = None  # when the first partition that waits for a pause may go
    waits_since: datetime | None = None  # since when some do
    n_left_out: int = 0  # partitions of these tasks that wait while the others go

    @property
    def not_done(self) -> Mapping[str, int]:
        """How many partitions each reason keeps from being done, the commonest first."""
        counts = Counter(one.reason for one in self.decisions if one.kind is None)
        if self.n_left_out:
            counts[_LEFT_OUT] += self.n_left_out
        return dict(counts.most_common())


def make_plan(
    facts: TableFacts, *, policy: Policy, speed: Speed | None, zone: tzinfo, now: datetime
) -> Plan:
    """Plan a table's tasks without beginning any; one application's start is in the total."""
    decision = decide(facts.partitions, facts.table, policy=policy, last=facts.last, now=now)
    since = facts.waiting_since(now)
    weighed = _weigher(facts, policy=policy, speed=speed or UNMEASURED, since=since, now=now)
    found = [(one, weighed(one)) for one in decision.proposals]
    tasks = tuple(
        _planned(_going(one, how, decision.decisions), facts.table, how, policy=policy, speed=speed)
        for one, how in found
    )
    pauses = [how.again_at for _, how in found if how is not None and how.again_at is not None]
    # Those that waited for a day keep their turn until it has come.
    is_waiting = bool(pauses) or (bool(tasks) and now - since >= LONGEST_WAIT)
    begin = [start_cost(speed)] if speed and tasks else []
    total = sum((one.estimate for one in tasks), start=sum(begin, start=Estimate()))
    held, until = hold_reason(policy, zone=zone, now=now) or ("", None)
    return Plan(
        tasks,
        total,
        held,
        until,
        decision.decisions,
        " ".join(f"{one.kind}: {one.reason}" for one in tasks) or decision.words,
        min(pauses, default=None),
        since if is_waiting else None,
        sum(how.n_left_out for _, how in found if how is not None),
    )


def _weigher(
    facts: TableFacts, *, policy: Policy, speed: Speed, since: datetime, now: datetime
) -> Callable[[Proposal], Weighed | None]:
    changes = Changes(facts.commits, now=now)

    def weighed(proposal: Proposal) -> Weighed | None:
        if not proposal.partitions or proposal.kind not in REWRITES:
            return None

        def advised(stats: PartitionStats) -> Advice:
            alone = estimate_task(
                proposal.kind, (stats,), target_bytes=policy.target_bytes, speed=speed
            )
            return advise(
                changes.of(stats.partition, newest_commit_at=stats.newest_commit_at),
                seconds=max(alone.seconds, LEAST_SECONDS),
                caution=policy.caution,
                since=since,
                now=now,
            )

        return weigh(proposal.partitions, advised, now=now)

    return weighed


def _going(
    proposal: Proposal, how: Weighed | None, decisions: Sequence[PartitionDecision]
) -> Proposal:
    """Return a proposal with the partitions that go, in their order, and the reason for these."""
    if how is None:
        return proposal
    reason = proposal.reason
    if how.n_left_out:
        going = {one.partition for one in how.partitions}
        of_these = [
            one for one in decisions if one.kind is proposal.kind and one.partition in going
        ]
        reason = joined(of_these) + how.words
    return replace(proposal, partitions=how.partitions, reason=reason)


def _planned(
    proposal: Proposal,
    table: TableStats,
    how: Weighed | None,
    *,
    policy: Policy,
    speed: Speed | None,
) -> PlannedTask:
    names = proposal.partitions
    return PlannedTask(
        proposal.kind,
        None if names is None else tuple(one.partition for one in names),
        proposal.reason,
        _estimate(proposal, table, policy=policy, speed=speed),
        is_timed=speed is not None,
        advice=how.advice if how else None,
        is_cold=how.is_cold if how else False,
        needs_approval=proposal.kind in DESTRUCTIVE,
    )


def _estimate(
    proposal: Proposal, table: TableStats, *, policy: Policy, speed: Speed | None
) -> Estimate:
    known = speed or UNMEASURED
    if proposal.partitions is None:
        found = upkeep_estimate(proposal.kind, table, speed=known) or Estimate()
    else:
        found = estimate_task(
            proposal.kind, proposal.partitions, target_bytes=policy.target_bytes, speed=known
        )
    return found if speed is not None else replace(found, seconds=0.0, gb_hours=0.0)
