"""The runs over Iceberg tables: one optimizes, one removes what people approved.

Many tasks go in one Spark application, one run at a time a lake. What was approved goes in runs of
its own: only in the lake's working hours, after the cooling-off, and only while approval and policy
still stand.
"""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from optimizer.core.domain.estimates import Speed
from optimizer.core.domain.tasks import DESTRUCTIVE, TaskKind, TaskState
from optimizer.core.run_kinds import TasksKind, is_busy
from optimizer.core.services.speeds import speed_of
from optimizer.iceberg.maintenance.selectors import may_borrow
from optimizer.iceberg.maintenance.services.quarantine_places import quarantine_directory
from optimizer.iceberg.maintenance.services.quarantines import quarantines_open, quarantines_seal
from optimizer.iceberg.planner.domain.estimates import group_bytes
from optimizer.iceberg.planner.services.planner import decide_due
from optimizer.iceberg.planner.services.results import reclaim, results_ingest
from optimizer.iceberg.planner.services.scheduler import choose_tasks, claim, waiting
from optimizer.iceberg.rewrite.domain.layouts import parse_layout
from optimizer.models import LayoutWrite, OptimizeTask, RemovalPlan
from optimizer.policies.selectors.policies import LakePolicies, policies_of
from optimizer.removals.domain.states import RemovalState
from optimizer.removals.run_kinds import FencedKind
from optimizer.removals.services.claims import lists_claim, lists_ready
from optimizer.removals.services.fences import fence_open
from portal.runs.domain import Schedule
from portal.runs.kinds.registry import register
from portal.runs.models import Run

KIND = "optimize"
REMOVE_KIND = "optimizer.remove"
MOST_IN_A_RUN = 20
MAX_GROUP_BYTES = 10 * 1024**3
MAX_COMMITS = 10
MAX_SMALL_COMMITS = 200  # where other writers leave little time for each
MIN_FILES = 2


class OptimizeKind(TasksKind):
    """Does the tasks that it takes when it starts.

    It is no acting kind: a commit of Iceberg happens or does not, and the job clears what it left.
    One that died is not tried again as it was: its tasks wait again, and go with a later run.
    """

    name = KIND
    job = "optimizer.iceberg.execution.jobs.optimize"
    title = "Optimize Iceberg tables"

    def scheduled_params(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        """Wanted where something may begin and no other run is under way."""
        decide_due(lake, now=now)
        reclaim(lake, now=now)
        if is_busy(lake, self.name, now=now) or not waiting(lake, now=now).exists():
            return None
        return {} if choose_tasks(lake, now=now) else None

    def prepare(self, run: Run) -> None:
        """Take the tasks; asked again they are the same."""
        claim(run, now=timezone.now())

    def request(self, run: Run) -> dict[str, Any]:
        """Return the job its tasks."""
        policies, speed = policies_of(run.lake), speed_of(run.lake)
        return {"tasks": [_order(task, policies, speed) for task in _tasks(run.pk)]}

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Write what came of each task; those without a word go back into the queue."""
        results_ingest(run, manifest, now=timezone.now())


class RemoveKind(FencedKind, OptimizeKind):
    """Removes what stands on approved lists; the job judges each item anew."""

    name = REMOVE_KIND
    title = "Remove approved snapshots and files"
    queue = "destructive"
    destroys = True
    start_roles = frozenset()
    schedule = Schedule(every=timedelta(seconds=10))

    def scheduled_params(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        """Wanted where a list may be acted on and no other such run is under way."""
        if is_busy(lake, self.name, now=now):
            return None
        return {} if removals_ready(lake, now=now).exists() else None

    def prepare(self, run: Run) -> None:
        """Take the lists, and make the run's fence and quarantines; asked again all is the same."""
        now = timezone.now()
        removals_claim(run, now=now)
        fence_open(run, now=now)
        quarantines_open(run)

    def settle(self, run: Run) -> None:
        """Seal what the run could act on, then its quarantines."""
        super().settle(run)
        quarantines_seal(run, now=timezone.now())


def removals_ready(lake: str, *, now: datetime) -> QuerySet[RemovalPlan]:
    """Return the lists of Iceberg tables that may be acted on."""
    return lists_ready(lake, "table", now=now)


def removals_claim(run: Run, *, now: datetime) -> int:
    """Let a run take the lists that may be acted on; asked again it keeps those that it has."""
    policies = policies_of(run.lake)

    def is_allowed(plan: RemovalPlan) -> bool:
        policy = policies.of(plan.subject.db, plan.subject.table).policy
        return policy.is_on and plan.kind in policy.kinds

    return lists_claim(
        run, removals_ready(run.lake, now=now), is_allowed, most=MOST_IN_A_RUN, now=now
    )


def register_task_kinds() -> None:
    """Tell the platform of the runs of this file."""
    register(OptimizeKind())
    register(RemoveKind())


def _tasks(run: UUID) -> QuerySet[OptimizeTask]:
    sent = OptimizeTask.objects.filter(run=run, state=TaskState.SENT)
    return sent.select_related("table").order_by("-score", "pk")


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
