"""Which runs serve Hudi tables? Many tables in one Spark application, one run at a time a lake.

What people approved goes in runs of their own, in the lake's working hours, as it does of Iceberg
tables. A resident service is no process of its own: a table whose policy asks for one has no quiet
hours and is asked after every five seconds, and the run begins with what waits then.
"""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from optimizer.domain.hudi.tasks import TASKS
from optimizer.domain.removal_states import RemovalState
from optimizer.domain.tasks import TaskState
from optimizer.models import OptimizeTask, RemovalPlan
from optimizer.selectors.hudi_policies import hudi_policies_of
from optimizer.services.hudi_dispatching import hudi_choose, hudi_claim
from optimizer.services.hudi_orders import orders_of
from optimizer.services.hudi_queueing import hudi_decide
from optimizer.services.hudi_results import hudi_reclaim, hudi_results_ingest
from optimizer.services.removal_kinds import removal_take
from optimizer.services.task_kinds import AFTER_A_FAILURE, OptimizeKind
from portal.act.selectors import red_button_wait
from portal.runs.domain import RunState, Schedule
from portal.runs.kinds import register
from portal.runs.models import Run

KIND, REMOVE_KIND = "hudi_services", "hudi_remove"
MOST_LISTS = 20


class HudiServicesKind(OptimizeKind):
    """Does the tasks that it takes when it starts.

    It is no acting kind: an instant of Hudi is completed or is not, and what was begun and left is
    rolled back and executed anew. One that died is not tried again as it was: its tasks wait again.
    """

    name = KIND
    job = "optimizer.jobs.hudi.services"
    title = "Serve Hudi tables"

    def scheduled_params(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        """Wanted where something may begin and no other run is under way."""
        hudi_decide(lake, now=now)
        hudi_reclaim(lake, now=now)
        if _is_busy(lake, self.name, now=now) or not hudi_choose(lake, now=now):
            return None
        return {}

    def prepare(self, run: Run) -> None:
        """Take the tasks; asked again they are the same."""
        hudi_claim(run, now=timezone.now())

    def request(self, run: Run) -> dict[str, Any]:
        """Give the job its tasks."""
        return {"tasks": orders_of(run, hudi_policies_of(run.lake))}

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Write what came of each task; those without a word go back into the queue."""
        hudi_results_ingest(run, manifest, now=timezone.now())


class HudiRemoveKind(HudiServicesKind):
    """Cleans, drops and rolls back what stands on approved lists; the job judges it anew."""

    name = REMOVE_KIND
    title = "Remove what was approved from Hudi tables"
    queue = "destructive"
    destroys = True
    start_roles = frozenset()
    schedule = Schedule(every=timedelta(seconds=10))

    def scheduled_params(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        """Wanted where a list may be acted on and no other such run is under way."""
        if _is_busy(lake, self.name, now=now):
            return None
        return {} if hudi_lists_ready(lake, now=now).exists() else None

    def prepare(self, run: Run) -> None:
        """Take the lists; asked again they are the same."""
        hudi_lists_claim(run, now=timezone.now())


def hudi_lists_ready(lake: str, *, now: datetime) -> QuerySet[RemovalPlan]:
    """Give the approved lists whose cooling-off is over, of tables on which nothing else runs."""
    busy = OptimizeTask.objects.filter(hudi__lake=lake, state=TaskState.SENT).values("hudi")
    return RemovalPlan.objects.filter(
        hudi__lake=lake,
        hudi__is_gone=False,
        hudi__is_paused=False,
        state=RemovalState.APPROVED,
        approval__cool_until__lte=now,
    ).exclude(hudi__in=busy)


def hudi_lists_claim(run: Run, *, now: datetime) -> int:
    """Let a run take the lists that may be acted on; asked again it keeps those that it has."""
    mine = OptimizeTask.objects.filter(run=run.pk, state=TaskState.SENT)
    if mine.exists() or red_button_wait(run.lake):
        return mine.count()
    policies = hudi_policies_of(run.lake)
    tables: set[int] = set()
    for plan in hudi_lists_ready(run.lake, now=now).order_by("created_at")[:MOST_LISTS]:
        table = plan.subject
        policy = policies.of(table.db, table.table).policy
        service, _ = TASKS[plan.kind]
        is_allowed = policy.is_on and service in policy.kinds
        if table.pk not in tables and removal_take(plan, run, is_allowed=is_allowed, now=now):
            tables.add(table.pk)
    return len(tables)


def register_hudi_kinds() -> None:
    """Tell the platform of the runs of this file."""
    register(HudiServicesKind())
    register(HudiRemoveKind())


def _is_busy(lake: str, kind: str, *, now: datetime) -> bool:
    """Whether a run is under way, or failed a moment ago and would again, or none may begin."""
    lately = Q(state=RunState.FAILED, finished_at__gt=now - AFTER_A_FAILURE)
    runs = Run.objects.filter(lake=lake, kind=kind).filter(Q(finished_at=None) | lately)
    return runs.exists() or bool(red_button_wait(lake))
