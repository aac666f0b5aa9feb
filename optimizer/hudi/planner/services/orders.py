"""Builds the order that the job serving Hudi tables gets for a task."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import QuerySet

from optimizer.hudi.inspect.domain.facts import HudiInspection
from optimizer.hudi.maintenance.domain.services import lock_problem
from optimizer.hudi.maintenance.domain.tasks import LISTED, TASKS, Service, Step
from optimizer.hudi.planner.domain.needs import Reader, commits_kept
from optimizer.hudi.planner.services.planner import inspection_of_table
from optimizer.hudi.planner.services.recent_runs import recent_activity_of
from optimizer.hudi.planner.services.removals import digest_of
from optimizer.hudi.planner.services.scheduler import BY_LIST, ROLLBACK, begun_by_services
from optimizer.models import OptimizeTask, RemovalPlan
from optimizer.policies.domain.hudi_policy import HudiPolicy
from optimizer.policies.selectors.hudi_policies import HudiPolicies
from optimizer.removals.domain.states import RemovalState
from portal.lake.errors import DataSafetyError

LOCK_PROVIDER = "hoodie.write.lock.provider"


def orders_of(tasks: QuerySet[OptimizeTask], policies: HudiPolicies) -> list[dict[str, Any]]:
    """Return what a run does, the first first.

    Raises:
        DataSafetyError: `hudi.not_approved`, a task would take away what nobody approved.
    """
    ordered = tasks.order_by("-score", "created_at", "pk")
    found = (order_of(task, policies) for task in ordered)
    return [one for one in found if one is not None]


def order_of(task: OptimizeTask, policies: HudiPolicies) -> dict[str, Any] | None:
    """Return one task's; None where the table's last look leaves nothing of it to do.

    Raises:
        DataSafetyError: as `orders_of`; RuleViolation: `hudi.look`, that look cannot be read.
    """
    row = task.hudi
    look = inspection_of_table(row) if row is not None else None
    plan = _approved(task)
    if row is None or look is None:
        return None
    if task.kind == ROLLBACK and plan is None:
        task.instants = begun_by_services(task)
        if not task.instants:
            return None
    service, step = TASKS[task.kind]
    policy = policies.of(row.db, row.table).policy
    lately = recent_activity_of(row, look, now=task.started_at or look.inspected_at)
    return {
        "task": task.pk,
        "db": row.db,
        "table": row.table,
        "location": row.location,
        "service": service.value,
        "step": step.value,
        "instants": task.instants,
        "failed": sorted(lately.failed),
        "most": policy.max_plans if task.instants is None and step is Step.EXECUTE else None,
        "lock": _lock(look, policy),
        "writer_serialized": policy.writer_serialized,
        "patience_seconds": policy.patience.total_seconds(),
        "settings": _settings(service, step, policy, plan)
        | _kept(service, look, policy, lately.readers),
        "properties": dict(row.properties),
        "partitions": list(task.partitions or ()),
        "digest": str(plan.facts["found"].get("digest", "")) if plan else "",
    }


def _approved(task: OptimizeTask) -> RemovalPlan | None:
    """Return the list that a task acts on; no task without one takes anything away."""
    plan = None
    if task.kind in LISTED:
        plan = task.removals.filter(state=RemovalState.RUNNING, run=task.run).first()
    if plan is None and task.kind in BY_LIST:
        raise DataSafetyError(
            "hudi.not_approved",
            f"{task.kind} of {task.subject} is in a run and no approved list says so.",
        )
    if plan is not None and plan.digest != digest_of(task, plan.facts["found"]):
        raise DataSafetyError(
            "hudi.not_approved",
            f"The list of {task.kind} of {task.subject} is not the one that was approved.",
        )
    return plan


def _lock(look: HudiInspection, policy: HudiPolicy) -> Mapping[str, str]:
    return {} if lock_problem(look.table, policy) else {LOCK_PROVIDER: policy.lock}


def _settings(
    service: Service, step: Step, policy: HudiPolicy, plan: RemovalPlan | None
) -> dict[str, str]:
    match service, step:
        case Service.CLUSTERING, Step.SCHEDULE:
            small = "hoodie.clustering.plan.strategy.small.file.limit"
            return {small: str(policy.small_bytes)}
        case Service.CLEAN, _:
            earliest = str(plan.facts["found"].get("earliest", "")) if plan else ""
            return {"earliest": earliest} if earliest else {}
        case Service.TTL, Step.SCHEDULE:
            return {"ttl_days": str(policy.ttl_days)}
        case Service.TTL, Step.EXECUTE if plan is not None:
            return {"listed_at": str(plan.facts["found"]["listed_at"])}
        case _:
            return {}


def _kept(
    service: Service, look: HudiInspection, policy: HudiPolicy, readers: Iterable[Reader]
) -> dict[str, str]:
    """Return how many commits a clean keeps, as Hudi's setting."""
    if service is not Service.CLEAN:
        return {}
    return {"hoodie.clean.commits.retained": str(commits_kept(look, policy, readers))}
