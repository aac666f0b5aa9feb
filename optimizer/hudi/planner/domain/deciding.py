"""Decides which services a Hudi table gets now, why, and why the rest is not done.

Rollbacks come first, for what is stuck holds others up; then clusterings, whose file groups take no
updates until they are executed; then compactions, cleans and partitions by age. What begins at
which hour is the queue's part: blackout windows say so (`QuietHours.hold`), as for all tables.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from optimizer.core.domain.scoring import Priority
from optimizer.hudi.inspect.domain.facts import HudiInspection
from optimizer.hudi.inspect.domain.findings import span_words
from optimizer.hudi.inspect.domain.timeline import Silence, stuck, unfit
from optimizer.hudi.maintenance.domain.services import ALLOWED, Ruling, may, may_roll_back
from optimizer.hudi.maintenance.domain.tasks import ACTIONS, HudiTask, Service, Step
from optimizer.hudi.planner.domain.needs import (
    RETRY_AFTER,
    Case,
    Need,
    RecentActivity,
    clean,
    clustering,
    compaction,
    executions,
    ttl,
)
from optimizer.policies.domain.hudi_policy import HudiPolicy, contradiction
from portal.lake.counts import count_words

REFUSED_FOR = timedelta(days=7)
_TASK, _YOUNG = "task", "young"
# Of needs that nobody has: there is nothing, not yet, not wanted, or others see to it.
_AT_REST = frozenset({"none", _YOUNG, "off", "pile", "writer-does"})
_PRECEDENCE = (
    (Service.ROLLBACK, Step.EXECUTE),
    (Service.ROLLBACK, Step.SCHEDULE),
    (Service.CLUSTERING, Step.EXECUTE),
    (Service.CLUSTERING, Step.SCHEDULE),
    (Service.COMPACTION, Step.EXECUTE),
    (Service.COMPACTION, Step.SCHEDULE),
    (Service.CLEAN, Step.EXECUTE),
    (Service.CLEAN, Step.SCHEDULE),
    (Service.TTL, Step.SCHEDULE),
)


@dataclass(frozen=True, slots=True)
class HudiStepDecision:
    """What was decided of a step of a service, or of the whole table where `service` is None."""

    service: Service | None
    step: Step | None
    code: str
    reason: str
    instants: tuple[str, ...] = ()

    @property
    def is_done(self) -> bool:
        """Whether it became a task."""
        return self.code == _TASK


@dataclass(frozen=True, slots=True)
class HudiDecision:
    """What is to be done, at most one task a step, first things first; a decision on everything.

    `idle_reason` says in a sentence why nothing is done, where that is so.
    """

    proposals: tuple[HudiTask, ...]
    decisions: tuple[HudiStepDecision, ...]
    idle_reason: str

    @property
    def words(self) -> str:
        """All of it in a sentence or two: what is done, or why nothing is."""
        return " ".join(f"{one.words}: {one.reason}" for one in self.proposals) or self.idle_reason


def decide(
    look: HudiInspection, *, policy: HudiPolicy, lately: RecentActivity | None = None, now: datetime
) -> HudiDecision:
    """Decide what a table needs; the same arguments give the same decision."""
    refused = _refused(look, policy)
    if refused is not None:
        return HudiDecision((), (refused,), refused.reason)
    case = Case.of(look, policy, lately or RecentActivity(), now)
    judged = [(need, _gate(case, need)) for need in _needs(case)]
    tasks = [_task(need, ruling) for need, ruling in judged if need.is_needed and ruling.is_allowed]
    decisions = [_decision(need, ruling) for need, ruling in judged]
    tasks.sort(key=lambda one: _PRECEDENCE.index((one.service, one.step)))
    open_ones = [
        decision
        for (need, ruling), decision in zip(judged, decisions, strict=True)
        if need.code not in _AT_REST and not (need.is_needed and ruling.is_allowed)
    ]
    return HudiDecision(tuple(tasks), tuple(decisions), _idle_reason(open_ones, decisions))


def precedence(service: Service, step: Step) -> int:
    """Return how early a step comes among those of one table: the greater, the earlier."""
    at = _PRECEDENCE.index((service, step)) if (service, step) in _PRECEDENCE else len(_PRECEDENCE)
    return len(_PRECEDENCE) - at


def service_priority(place: float) -> Priority:
    """Return the priority of a `precedence` in words: by thirds of the order of services."""
    share = place / len(_PRECEDENCE)
    if share > 2 / 3:
        return Priority.HIGH
    return Priority.NORMAL if share > 1 / 3 else Priority.LOW


def _refused(look: HudiInspection, policy: HudiPolicy) -> HudiStepDecision | None:
    if not policy.is_on:
        words = "Services are switched off for this table."
        return HudiStepDecision(None, None, "off", words)
    wrong = contradiction(policy)
    if wrong is not None:
        words = f"Its policy contradicts itself: {wrong.message}"
        return HudiStepDecision(None, None, "contradiction", words)
    left_alone = unfit(look)
    if left_alone is not None:
        return HudiStepDecision(None, None, left_alone.code, left_alone.reason)
    return None


def _needs(case: Case) -> Iterable[Need]:
    yield from _rollbacks(case)
    for service in ACTIONS:
        yield from executions(case, service)
    yield from (clustering(case), compaction(case), clean(case), ttl(case))


def _rollbacks(case: Case) -> Iterable[Need]:
    """Say what is rolled back: without approval at once, else it is listed for approval first."""
    found = [
        one
        for one in stuck(case.look, patience=case.policy.patience, now=case.now)
        if one.instant.instant not in case.lately.running
        and one.instant.action not in ACTIONS[Service.CLEAN]
    ]
    if not found:
        yield Need(Service.ROLLBACK, Step.EXECUTE, "none", "No instant is stuck.")
    ruled = [(one, may_roll_back(case.look, case.policy, one)) for one in found]
    for one, ruling in ruled:
        if not ruling.is_allowed:
            words = f"{one.words(case.now)} {ruling.reason}"
            yield _of([one], Step.EXECUTE, ruling.code, words)
    for step in (Step.EXECUTE, Step.SCHEDULE):
        chosen = [
            one
            for one, ruling in ruled
            if ruling.is_allowed and ruling.needs_approval == (step is Step.SCHEDULE)
        ]
        if chosen:
            more = f" And {len(chosen) - 1} more." if len(chosen) > 1 else ""
            words = f"{chosen[0].words(case.now)}{more}"
            yield _of(chosen, step, "stuck", words, is_needed=True)


def _of(
    silences: list[Silence], step: Step, code: str, words: str, *, is_needed: bool = False
) -> Need:
    instants = tuple(one.instant.instant for one in silences)
    return Need(Service.ROLLBACK, step, code, words, instants, is_needed=is_needed)


def _gate(case: Case, need: Need) -> Ruling:
    """Rule on a need: by the policy, by what was done lately, then by the table itself."""
    service, step, lately = need.service, need.step, case.lately
    tried, refused = lately.tried.get((service, step)), lately.refused.get(service)
    if service not in case.policy.kinds:
        return Ruling("kind-off", f"{service} is not among the services that its policy allows.")
    if service in lately.busy:
        return Ruling("busy", f"A task of {service} is not ended yet.")
    if refused is not None and case.now - refused < REFUSED_FOR:
        days = count_words(REFUSED_FOR.days, "day")
        return Ruling("refused", f"People refused {service} less than {days} ago.")
    if step is Step.SCHEDULE and tried is not None and case.now - tried < RETRY_AFTER:
        ago = span_words(case.now - tried)
        return Ruling("tried", f"It was tried {ago} ago; again {span_words(RETRY_AFTER)} after.")
    if service is Service.ROLLBACK:
        # Each instant was ruled on already; what it says depends on who wrote it.
        return Ruling(ALLOWED, need.reason)
    return may(case.look, case.policy, service, step)


def _idle_reason(open_ones: list[HudiStepDecision], decisions: list[HudiStepDecision]) -> str:
    """Say what stands in the way of most that is needed; else what will be needed some day."""
    if open_ones:
        ((code, _),) = Counter(one.code for one in open_ones).most_common(1)
        return next(one.reason for one in open_ones if one.code == code)
    compactions = (one for one in decisions if one.service is Service.COMPACTION)
    young = (one.reason for one in compactions if one.code == _YOUNG)
    return next(young, "Nothing needs to be done: no plan is pending and no instant is stuck.")


def _task(need: Need, ruling: Ruling) -> HudiTask:
    return HudiTask(
        need.service, need.step, need.reason, need.instants, needs_approval=ruling.needs_approval
    )


def _decision(need: Need, ruling: Ruling) -> HudiStepDecision:
    if not need.is_needed:
        return HudiStepDecision(need.service, need.step, need.code, need.reason, need.instants)
    if ruling.is_allowed:
        return HudiStepDecision(need.service, need.step, _TASK, need.reason, need.instants)
    words = f"{need.reason} {ruling.reason}"
    return HudiStepDecision(need.service, need.step, ruling.code, words, need.instants)
