"""Builds each Hudi service's board: its steps, its pending plans and what holds them.

What was decided stands as it was stored then; what may be asked for is ruled on now, by the policy
that holds now.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeAlias

from optimizer.hudi.inspect.domain.facts import HudiInspection, Instant, PendingPlan
from optimizer.hudi.inspect.domain.timeline import pending, stuck
from optimizer.hudi.maintenance.domain.recovery import NOTHING_LEFT_OUT, left_out
from optimizer.hudi.maintenance.domain.services import Ruling, may, may_roll_back
from optimizer.hudi.maintenance.domain.tasks import (
    ACTIONS,
    Service,
    Step,
    oldest_first,
    service_of,
    task_name,
)
from optimizer.hudi.planner.domain.estimates import plan_read
from optimizer.hudi.planner.domain.needs import Case, RecentActivity, compaction, executions, ttl
from optimizer.policies.domain.hudi_policy import HudiPolicy
from portal.lake.counts import count_words
from portal.lake.errors import RuleViolation

Expect: TypeAlias = Callable[[str, int], Mapping[str, float]]
"""Gives the estimate of a kind of task by the bytes that it reads."""

PLANS_SHOWN = 50
CHOSEN = "chosen"
_STEPS: Mapping[Service, tuple[Step, ...]] = {
    **dict.fromkeys(ACTIONS, (Step.EXECUTE, Step.SCHEDULE)),
    # A stuck instant is ruled on by itself, and partitions go by the list that was approved.
    Service.ROLLBACK: (),
    Service.TTL: (Step.SCHEDULE,),
    Service.RECOVERY: (Step.SCHEDULE,),
}


@dataclass(frozen=True, slots=True)
class StepRow:
    """A step of a service: what was decided of it, and why a person may not ask for it, or ''."""

    service: Service
    step: Step
    decided: Sequence[str]
    refused: str

    @property
    def name(self) -> str:
        """What tells it from the others of a page."""
        return f"{self.service.lower()}-{self.step.lower()}"

    @property
    def is_button(self) -> bool:
        """Whether it is asked for as a whole; plans are executed by their own buttons."""
        return self.step is Step.SCHEDULE


@dataclass(frozen=True, slots=True)
class PlanRow:
    """A pending instant of a service; `refused` says why it is not executed alone, '' if it may.

    Of a stuck one under rollback, `step` is what begins it: at once, or a list for approval.
    """

    service: Service
    step: Step
    instant: str
    action: str
    state: str
    requested_at: datetime
    refused: str
    needs_approval: bool
    plan: PendingPlan | None = None
    estimate: Mapping[str, float] = field(default_factory=dict)

    @property
    def hidden(self) -> dict[str, str]:
        """What its button sends."""
        return {
            "service": str(self.service),
            "step": str(self.step),
            "instants": self.instant,
        }


@dataclass(frozen=True, slots=True)
class ServiceStatus:
    """All that is to be said of one service."""

    service: Service
    steps: Sequence[StepRow]
    decided: Sequence[str]  # what was decided of steps that have no row
    plans: Sequence[PlanRow]
    n_plans: int
    execution: Ruling

    @property
    def key(self) -> str:
        """What tells it from the others of a page."""
        return self.service.lower()

    @property
    def n_ready(self) -> int:
        """How many of its plans may be chosen."""
        return sum(not one.refused for one in self.plans) if self.execution.is_allowed else 0

    @property
    def hidden(self) -> dict[str, str]:
        """What the button of all its pending plans sends: no instants, for it means all."""
        return {"service": str(self.service), "step": str(Step.EXECUTE)}

    @property
    def hidden_chosen(self) -> dict[str, str]:
        """What the button of the ticked ones sends beside them: it never means all."""
        return {**self.hidden, CHOSEN: "1"}


def boards_of(
    look: HudiInspection,
    policy: HudiPolicy,
    decisions: Sequence[Mapping[str, Any]],
    *,
    lately: RecentActivity,
    expect: Expect,
    now: datetime,
) -> list[ServiceStatus]:
    """Return the board of every service, in the order in which they are told.

    What failed lately is tried again at once where a person asks for it.
    """
    case = Case.of(look, policy, replace(lately, failed={}), now)
    return [_board(case, service, decisions, expect) for service in Service]


def decision_texts(decisions: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what was decided of the table as a whole, such as that nothing is done to it."""
    return [str(one["reason"]) for one in decisions if not one.get("service")]


def _board(
    case: Case, service: Service, decisions: Sequence[Mapping[str, Any]], expect: Expect
) -> ServiceStatus:
    rows = _stuck(case) if service is Service.ROLLBACK else _plans(case, service, expect)
    steps = [_step(case, service, step, decisions) for step in _STEPS[service]]
    rest = [step for step in Step if step not in _STEPS[service]]
    decided = [words for step in rest for words in _decided(decisions, service, step)]
    execution = may(case.look, case.policy, service, Step.EXECUTE)
    return ServiceStatus(service, steps, decided, rows[:PLANS_SHOWN], len(rows), execution)


def _step(
    case: Case, service: Service, step: Step, decisions: Sequence[Mapping[str, Any]]
) -> StepRow:
    """Rule on a step; one that would find nothing, or make damage last, is not asked for."""
    ruling = may(case.look, case.policy, service, step)
    refused = "" if ruling.is_allowed else ruling.reason
    if step is Step.SCHEDULE and not refused:
        refused = _vain(case, service)
    decided = [words for words in _decided(decisions, service, step) if words != refused]
    return StepRow(service, step, decided, refused)


def _vain(case: Case, service: Service) -> str:
    """Say why a plan would find nothing, or make damage last; '' where it would do good."""
    if service is Service.COMPACTION:
        need = compaction(case)
        return need.reason if need.code in {"damaged", "none"} else ""
    if service is Service.TTL:
        need = ttl(case)
        return need.reason if need.code == "off" else ""
    if service is Service.RECOVERY:
        return "" if left_out(case.look) else NOTHING_LEFT_OUT
    groups = count_words(len(case.damaged), "file group")
    return f"Damaged: {groups}. Repair it first." if case.damaged else ""


def _decided(decisions: Sequence[Mapping[str, Any]], service: Service, step: Step) -> list[str]:
    return [
        str(one["reason"])
        for one in decisions
        if one.get("service") == service and one.get("step") == step
    ]


def _plans(case: Case, service: Service, expect: Expect) -> list[PlanRow]:
    """Return a service's pending instants, oldest first, each with why it does not go."""
    if service not in ACTIONS:
        return []
    held = {
        instant: need.reason.removeprefix(f"{instant}: ")
        for need in executions(case, service)
        if not need.is_needed
        for instant in need.instants
    }
    ruling = may(case.look, case.policy, service, Step.EXECUTE)
    found = pending(case.look, ACTIONS[service])
    waiting = [one.instant for one in found]
    plans = {one.instant: one for one in case.look.plans}
    return [
        PlanRow(
            service,
            Step.EXECUTE,
            one.instant,
            str(one.action),
            str(one.state),
            one.requested_at,
            held.get(one.instant, "") or _alone(one, waiting),
            ruling.needs_approval,
            plan := plans.get(one.instant),
            expect(task_name(service, Step.EXECUTE), plan_read(plan)) if plan else {},
        )
        for one in found
    ]


def _alone(one: Instant, waiting: Sequence[str]) -> str:
    try:
        oldest_first(waiting, only=[one.instant])
    except RuleViolation as error:
        return error.message
    return ""


def _stuck(case: Case) -> list[PlanRow]:
    """Return what is stuck; what a service began is rolled back at once, a write by approval."""
    rows = []
    for one in stuck(case.look, patience=case.policy.patience, now=case.now):
        ruling = may_roll_back(case.look, case.policy, one)
        is_clean = service_of(one.instant.action) is Service.CLEAN
        refused = (
            "A clean that was broken off goes on where it was: execute it." if is_clean else ""
        )
        rows.append(
            PlanRow(
                Service.ROLLBACK,
                Step.SCHEDULE if ruling.needs_approval else Step.EXECUTE,
                one.instant.instant,
                str(one.instant.action),
                "stuck",
                one.instant.requested_at,
                refused or ("" if ruling.is_allowed else ruling.reason),
                ruling.needs_approval,
            )
        )
    return rows
