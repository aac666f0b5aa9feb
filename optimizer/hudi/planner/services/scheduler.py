"""Puts waiting tasks of Hudi tables in order: what holds others up, then what waits longest.

What begins then and in which run is the dispatcher's part (`optimizer.core.services.dispatcher`).
What takes something away never goes this way, but by its list.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo

from django.db.models import QuerySet

from optimizer.core.domain.estimates import UNMEASURED
from optimizer.core.services.maintainers import Arranged
from optimizer.core.services.speeds import speed_of
from optimizer.hudi.inspect.domain.timeline import PLANNED
from optimizer.hudi.maintenance.domain.tasks import BY_APPROVAL, Service, Step, task_name
from optimizer.hudi.planner.services.planner import held_by_hour, inspection_of_table
from optimizer.models import OptimizeTask
from optimizer.policies.domain.hudi_policy import ResolvedHudi
from optimizer.policies.selectors.hudi_policies import hudi_policies_of
from optimizer.policies.services.budgets import BUDGET, seconds_spent
from portal.access.lakes import get_lake
from portal.lake.errors import RuleViolation

BY_LIST = tuple(task_name(service, Step.EXECUTE) for service in sorted(BY_APPROVAL))
"""What goes by a list alone that people approved."""
ROLLBACK = task_name(Service.ROLLBACK, Step.EXECUTE)
_LIST_IT = "A writer began what it would roll back: that is listed and approved first."


def may_begin(rows: QuerySet[OptimizeTask]) -> QuerySet[OptimizeTask]:
    """Keep what goes without a list: nothing that only a list lets go, and nothing that has one."""
    return rows.filter(removals=None).exclude(kind__in=BY_LIST)


def arrange(lake: str, tasks: Sequence[OptimizeTask], *, now: datetime) -> Arranged:
    """Arrange tasks: what people asked for first, then what holds others up, then by age."""
    policies, zone = hudi_policies_of(lake), get_lake(lake).zone
    begin: list[OptimizeTask] = []
    held: list[tuple[OptimizeTask, str]] = []
    spent = None
    for task in sorted(
        tasks, key=lambda one: (not one.requested_by, -one.score, one.created_at, one.pk)
    ):
        found = policies.of(task.subject.db, task.subject.table)
        if spent is None and found.policy.budget_gb_hours is not None:
            spent = seconds_spent(lake, now=now)
        reason = _held(task, found, zone, now=now) or _too_much(lake, task, found, spent or {})
        if reason:
            held.append((task, reason))
        else:
            begin.append(task)
    return Arranged(begin, held)


def needs_a_list(task: OptimizeTask) -> bool:
    """Whether a task takes away what people have to approve first, as the table was looked at."""
    if task.kind in BY_LIST:
        return True
    return task.kind == ROLLBACK and set(begun_by_services(task)) != set(task.instants or ("",))


def begun_by_services(task: OptimizeTask) -> list[str]:
    """Return those of a rollback's instants that a service began: undone, their plans stay.

    What the table's last look does not know is not among them.
    """
    try:
        look = inspection_of_table(task.hudi) if task.hudi else None
    except RuleViolation:
        look = None
    pending = {one.instant: one.action for one in look.instants if one.is_pending} if look else {}
    return [one for one in task.instants or () if pending.get(one) in PLANNED]


def _held(task: OptimizeTask, found: ResolvedHudi, zone: tzinfo, *, now: datetime) -> str:
    if needs_a_list(task):
        return _LIST_IT
    return "" if task.requested_by else held_by_hour(found.policy, zone, now=now)


def _too_much(
    lake: str, task: OptimizeTask, found: ResolvedHudi, spent: Mapping[str, float]
) -> str:
    """Say that the day's budget is spent; what one task will take is not known before it ends."""
    whole = found.policy.budget_gb_hours
    if whole is None or task.requested_by:
        return ""
    gb = (speed_of(lake) or UNMEASURED).memory_gb
    used = spent.get(found.sources[BUDGET], 0.0) * gb / 3600
    if used < whole:
        return ""
    return (
        f"Spent in the last day: {used:.2f} of {whole:.2f} GB-hours of {found.sources[BUDGET]}, "
        "which tables of both formats share."
    )
