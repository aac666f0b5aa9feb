"""Queues the services that a Hudi table needs, and takes them off the queue again.

A table is decided on after each look, and once an hour besides, because what is young, failed or
silent gets older without one. One task is open a table and step of a service. What a person asked
for is taken back by people only.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from django.db import transaction
from django.db.models import Q

from optimizer.core.domain.tasks import TaskState
from optimizer.core.selectors.tables import to_decide
from optimizer.core.services.task_lifecycle import NOT_SENT, abandon, lock_to_decide
from optimizer.hudi.inspect.domain.facts import HudiInspection, plain
from optimizer.hudi.maintenance.domain.tasks import HudiTask, Step, task_name
from optimizer.hudi.planner.domain.deciding import (
    HudiDecision,
    HudiStepDecision,
    decide,
    precedence,
)
from optimizer.hudi.planner.domain.needs import RETRY_AFTER, RecentActivity
from optimizer.hudi.planner.services.recent_runs import given_way, last_end, recent_activity_of
from optimizer.hudi.planner.services.speeds import HudiSpeeds
from optimizer.models import HudiTable, OptimizeTask, StoredInspection
from optimizer.policies.domain.hudi_policy import HudiPolicy, ResolvedHudi
from optimizer.policies.selectors.hudi_policies import (
    HudiPolicies,
    hudi_policies_changed_at,
    hudi_policies_of,
)
from portal.access.lakes import get_lake
from portal.lake.errors import RuleViolation

AT_ONCE = 100
AGAIN_AFTER = timedelta(hours=1)
_BUSY = "busy"


@dataclass(frozen=True, slots=True)
class _Table:
    """A table with what its tasks are made of."""

    row: HudiTable
    look: HudiInspection
    speeds: HudiSpeeds
    found: ResolvedHudi
    versions: tuple[int, ...]
    lately: RecentActivity
    waits: Mapping[str, datetime]
    zone: tzinfo


def hudi_decide(lake: str, *, now: datetime, limit: int = AT_ONCE) -> int:
    """Decide on the tables that were looked at since their last decision; returns how many.

    Of the others on those whose policy may have changed since, and on those whose decision is an
    hour old, unless a look at them is due anyway.
    """
    is_old = Q(decided_at__lt=now - AGAIN_AFTER) & (
        Q(inspect_due_at=None) | Q(inspect_due_at__gt=now)
    )
    changed_at = hudi_policies_changed_at(lake)
    if changed_at is not None:
        is_old |= Q(decided_at__lt=changed_at)
    rows = to_decide(HudiTable, lake, again=is_old)[:limit]
    policies, speeds = hudi_policies_of(lake), HudiSpeeds(lake)
    for row in rows:
        hudi_decide_table(row, policies=policies, speeds=speeds, now=now)
    return len(rows)


def hudi_decide_table(
    row: HudiTable, *, policies: HudiPolicies, speeds: HudiSpeeds, now: datetime
) -> None:
    """Decide what a table needs by its last look, and bring its open tasks in line with it.

    Of two that decide at once the second changes nothing.
    """
    found = policies.of(row.db, row.table)
    if row.is_continuous != found.policy.stays:
        HudiTable.objects.filter(pk=row.pk).update(is_continuous=found.policy.stays)
    try:
        look = inspection_of_table(row)
    except RuleViolation as error:
        _keep(
            row, (HudiStepDecision(None, None, error.code, error.message),), error.message, now=now
        )
        HudiTable.objects.filter(pk=row.pk).update(inspect_due_at=now)
        return
    ended = last_end(row)
    if look is None or (ended is not None and look.inspected_at <= ended):
        # What a run did is not in it; the look that is due then decides.
        HudiTable.objects.filter(pk=row.pk).update(decided_at=now)
        return
    lately = recent_activity_of(row, look, now=now)
    decision = decide(look, policy=found.policy, lately=lately, now=now)
    table = _Table(
        row,
        look,
        speeds,
        found,
        policies.versions(found),
        lately,
        given_way(row, now=now),
        get_lake(row.lake).zone,
    )
    with transaction.atomic():
        if lock_to_decide(row):
            _bring_in_line(table, decision, now=now)
            _keep(row, decision.decisions, decision.words, now=now)


def decision_of(
    row: HudiTable, look: HudiInspection, policy: HudiPolicy, now: datetime
) -> HudiDecision:
    """Say what would be done to a table by a look; begins nothing."""
    return decide(look, policy=policy, lately=recent_activity_of(row, look, now=now), now=now)


def inspection_of_table(row: HudiTable) -> HudiInspection | None:
    """Return a table's last look, None where there is none.

    Raises:
        RuleViolation: `hudi.look`, it was stored in another form.
    """
    stored = StoredInspection.objects.filter(table=row).first()
    return None if stored is None else stored.look()


def listed_first(one: HudiTask) -> HudiTask:
    """Return the task that draws the list up where people approve what another would do."""
    if not one.needs_approval:
        return one
    return HudiTask(one.service, Step.SCHEDULE, one.reason, one.instants)


def held_by_hour(policy: HudiPolicy, zone: tzinfo, *, now: datetime) -> str:
    """Say why nothing of a table begins by itself now; empty if it may."""
    if not policy.is_on:
        return "Services are switched off for this table."
    held = None if policy.quiet is None else policy.quiet.hold(now, zone)
    return held[0] if held else ""


def _bring_in_line(table: _Table, decision: HudiDecision, *, now: datetime) -> None:
    row = table.row
    open_tasks = {task.kind: task for task in row.tasks.select_for_update().filter(is_open=True)}
    wanted = set()
    for proposed in decision.proposals:
        one = listed_first(proposed)
        if one is not proposed and _listed_in_vain(table.lately, one, now):
            continue
        wanted.add(one.name)
        _propose(table, one, open_tasks.get(one.name), now=now)
    busy = {_name(one) for one in decision.decisions if one.code == _BUSY}
    for kind, task in open_tasks.items():
        if kind not in wanted | busy and task.state in NOT_SENT and not task.requested_by:
            abandon(task, reason=f"Not needed any more. {decision.words}", now=now)


def _propose(table: _Table, one: HudiTask, task: OptimizeTask | None, *, now: datetime) -> None:
    if task is not None and (task.state not in NOT_SENT or task.requested_by):
        return
    if task is None:
        task = OptimizeTask(hudi=table.row, kind=one.name, created_at=now)
    task.reason, task.instants = one.reason, list(one.instants) or None
    task.score = precedence(one.service, one.step)
    task.policy_versions = list(table.versions)
    task.estimate = table.speeds.estimate_plans(table.look, one.name, one.instants)
    task.not_before = table.waits.get(one.name)
    held = _held(table, task, now=now)
    task.state = TaskState.HELD if held else TaskState.WAITING
    task.waits_for = held
    task.save()


def _held(table: _Table, task: OptimizeTask, *, now: datetime) -> str:
    if table.row.is_paused:
        return f"Paused by {table.row.paused_by}: {table.row.paused_reason}"
    if task.not_before is not None:
        return "Somebody was at work on the table a moment ago."
    return held_by_hour(table.found.policy, table.zone, now=now)


def _listed_in_vain(lately: RecentActivity, one: HudiTask, now: datetime) -> bool:
    tried = lately.tried.get((one.service, one.step))
    return tried is not None and now - tried < RETRY_AFTER


def _name(decision: HudiStepDecision) -> str:
    if decision.service is None or decision.step is None:
        return ""
    return task_name(decision.service, decision.step)


def _keep(
    row: HudiTable, decisions: tuple[HudiStepDecision, ...], words: str, *, now: datetime
) -> None:
    HudiTable.objects.filter(pk=row.pk).update(
        decided_at=now, decision=words, decisions=[plain(one) for one in decisions]
    )
