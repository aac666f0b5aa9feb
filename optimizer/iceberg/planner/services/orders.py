"""Builds the orders that the job optimizing Iceberg tables gets for its tasks."""

from typing import Any

from django.db.models import QuerySet

from optimizer.core.domain.estimates import Speed
from optimizer.core.domain.tasks import DESTRUCTIVE, TaskKind
from optimizer.core.services.speeds import speed_of
from optimizer.iceberg.maintenance.selectors import may_borrow
from optimizer.iceberg.maintenance.services.quarantine_places import quarantine_directory
from optimizer.iceberg.planner.domain.estimates import group_bytes
from optimizer.iceberg.rewrite.domain.layouts import parse_layout
from optimizer.models import LayoutWrite, OptimizeTask
from optimizer.policies.selectors.policies import LakePolicies, policies_of
from optimizer.removals.domain.states import RemovalState

MAX_GROUP_BYTES = 10 * 1024**3
MAX_COMMITS = 10
MAX_SMALL_COMMITS = 200  # where other writers leave little time for each
MIN_FILES = 2


def orders_of(lake: str, tasks: QuerySet[OptimizeTask]) -> list[dict[str, Any]]:
    """Return what a run does, the best first."""
    policies, speed = policies_of(lake), speed_of(lake)
    return [_order(task, policies, speed) for task in tasks.order_by("-score", "pk")]


def _order(task: OptimizeTask, policies: LakePolicies, speed: Speed | None) -> dict[str, Any]:
    table = task.iceberg
    layout = str(parse_layout(task.layout))
    laid_out = LayoutWrite.objects.filter(table=table, layout=layout) if layout else None
    newest = laid_out.order_by("-at", "-pk").first() if laid_out is not None else None
    return {
        "task": task.pk,
        "db": table.db,
        "table": table.table,
        "uuid": table.uuid,
        "kind": task.kind,
        "partitions": task.partitions,
        "target_bytes": task.target_bytes,
        "layout": layout,
        # The boundaries of before keep later files comparable with those that are there.
        "boundaries": newest.boundaries if newest else None,
        "write_ids": [] if laid_out is None else list(laid_out.values_list("write_id", flat=True)),
        "max_group_bytes": group_bytes(
            task.group_seconds, kind=TaskKind(task.kind), speed=speed, at_most=MAX_GROUP_BYTES
        ),
        "max_commits": MAX_COMMITS if task.group_seconds is None else MAX_SMALL_COMMITS,
        "min_files": MIN_FILES,
        "removal": _removal(task, policies) if task.kind in DESTRUCTIVE else None,
    }


def _removal(task: OptimizeTask, policies: LakePolicies) -> dict[str, Any]:
    """Return what the policy lets go as it stands now, and the list that this run may act on."""
    policy = policies.of(task.iceberg.db, task.iceberg.table).policy
    plan = task.removals.filter(state=RemovalState.RUNNING, run=task.run).first()
    return {
        "expire_days": policy.expire_days,
        "keep_snapshots": policy.keep_snapshots,
        "orphan_days": policy.orphan_days,
        "quarantine_days": policy.quarantine_days,
        "borrowers": list(may_borrow(task.iceberg)),
        "quarantine": "" if plan is None else quarantine_directory(plan),
        "approved": None
        if plan is None
        else {"plan": str(plan.pk), "uri": plan.items_uri, "digest": plan.digest},
    }
