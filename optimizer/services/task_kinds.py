"""Which run rewrites tables? Many tasks in one Spark application, one run at a time a lake."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone

from optimizer.domain.estimates import Speed, group_bytes
from optimizer.domain.layouts import parse_layout
from optimizer.domain.removal_states import RemovalState
from optimizer.domain.tasks import DESTRUCTIVE, LEAVE_OUT, TaskKind, TaskState
from optimizer.models import LayoutWrite, OptimizeTask
from optimizer.selectors.borrowers import may_borrow
from optimizer.selectors.policies import LakePolicies, policies_of
from optimizer.services.dispatching import choose_tasks, claim, waiting
from optimizer.services.quarantine_places import quarantine_directory
from optimizer.services.queueing import decide_due
from optimizer.services.speeds import speed_of
from optimizer.services.task_ends import told_to_stop
from optimizer.services.task_results import reclaim, results_ingest
from portal.access.models import KEEPERS
from portal.runs.domain import RunState, Schedule
from portal.runs.kinds import RunKind, register, write_cancel
from portal.runs.models import Run
from portal.runs.spools import open_spool
from portal.safety.selectors import red_button_wait

KIND = "optimize"
MAX_GROUP_BYTES = 10 * 1024**3
MAX_COMMITS = 10
MAX_SMALL_COMMITS = 200  # where other writers leave little time for each
MIN_FILES = 2
AFTER_A_FAILURE = timedelta(minutes=5)


class OptimizeKind(RunKind):
    """Does the tasks that it takes when it starts.

    It is no acting kind: a commit of Iceberg happens or does not, and the job clears what it left.
    One that died is not tried again as it was: its tasks wait again, and go with a later run.
    """

    name = KIND
    job = "optimizer.jobs.rewrite"
    writes_tables = True
    yields = True
    title = "Optimize Iceberg tables"
    attempts = 1
    start_roles = KEEPERS
    schedule = Schedule(every=timedelta(seconds=5))

    def scheduled_params(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        """Wanted where something may begin and no other run is under way."""
        decide_due(lake, now=now)
        reclaim(lake, now=now)
        runs = Run.objects.filter(lake=lake, kind=KIND)
        # What failed a moment ago, for want of a jar or a cluster, would fail again.
        lately = Q(state=RunState.FAILED, finished_at__gt=now - AFTER_A_FAILURE)
        if runs.filter(Q(finished_at=None) | lately).exists():
            return None
        if not waiting(lake, now=now).exists() or red_button_wait(lake):
            return None
        if not choose_tasks(lake, now=now):
            return None
        return {}

    def waits(self, run: Run, *, now: datetime) -> str:
        """Wait while the red button is on."""
        return red_button_wait(run.lake)

    def prepare(self, run: Run) -> None:
        """Take the tasks; asked again they are the same."""
        claim(run, now=timezone.now())

    def request(self, run: Run) -> dict[str, Any]:
        """Give the job its tasks."""
        policies, speed = policies_of(run.lake), speed_of(run.lake)
        return {"tasks": [_order(task, policies, speed) for task in _tasks(run.pk)]}

    def beat(self, run: Run) -> None:
        """Tell the job to stop where a person or the red button says so, or what it must know."""
        pressed = red_button_wait(run.lake)
        if pressed and run.spool:
            open_spool(run).write_control({"cancel": True, "by": "red button", "why": pressed})
        elif run.cancel_requested_by:
            write_cancel(run)
        elif run.spool and (wanted := self.wanted(run)):
            open_spool(run).write_control(wanted)

    def wanted(self, run: Run) -> dict[str, Any]:
        """Give what the job must know now: the tasks to leave out; empty says nothing new."""
        tasks = told_to_stop(run)
        return {LEAVE_OUT: tasks} if tasks else {}

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Write what came of each task; those without a word go back into the queue."""
        results_ingest(run, manifest, now=timezone.now())


def register_task_kinds() -> None:
    """Tell the platform of the runs of this file."""
    register(OptimizeKind())


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
    """Give what the policy lets go as it stands now, and the list that this run may act on."""
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
