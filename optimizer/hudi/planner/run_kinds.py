"""Run kinds of Hudi services: many tables in one Spark application, one run at a time a lake.

One kind of run ends with its tasks. What people approved goes in runs of their own, in the lake's
working hours, as of Iceberg tables. The one that stays with tables is in `hudi.continuous`.
"""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from optimizer.core.run_kinds import TasksKind, is_busy
from optimizer.hudi.maintenance.domain.tasks import TASKS
from optimizer.hudi.planner.services.orders import orders_of
from optimizer.hudi.planner.services.planner import hudi_decide
from optimizer.hudi.planner.services.results import hudi_reclaim, hudi_results_ingest
from optimizer.hudi.planner.services.scheduler import hudi_choose, hudi_claim
from optimizer.models import RemovalPlan
from optimizer.policies.selectors.hudi_policies import hudi_policies_of
from optimizer.removals.run_kinds import FencedKind
from optimizer.removals.services.claims import lists_claim, lists_ready
from optimizer.removals.services.fences import fence_open
from portal.runs.domain import Schedule
from portal.runs.kinds.registry import register
from portal.runs.models import Run

KIND, REMOVE_KIND = "hudi_services", "hudi_remove"
MOST_LISTS = 20


class HudiServicesKind(TasksKind):
    """Does the tasks that it takes when it starts.

    It is no acting kind: an instant of Hudi is completed or is not, and what was begun and left is
    rolled back and executed anew. One that died is not tried again as it was: its tasks wait again.
    """

    name = KIND
    job = "optimizer.hudi.maintenance.jobs.run_services"
    title = "Serve Hudi tables"

    def scheduled_params(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        """Wanted where something may begin and no other run is under way."""
        hudi_decide(lake, now=now)
        hudi_reclaim(lake, now=now)
        if is_busy(lake, self.name, now=now) or not hudi_choose(lake, now=now):
            return None
        return {}

    def prepare(self, run: Run) -> None:
        """Take the tasks; asked again they are the same."""
        hudi_claim(run, now=timezone.now())

    def request(self, run: Run) -> dict[str, Any]:
        """Return the job its tasks."""
        return {"tasks": orders_of(run, hudi_policies_of(run.lake))}

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Write what came of each task; those without a word go back into the queue."""
        hudi_results_ingest(run, manifest, now=timezone.now())


class HudiRemoveKind(FencedKind, HudiServicesKind):
    """Cleans, drops and rolls back what stands on approved lists; the job judges it anew."""

    name = REMOVE_KIND
    title = "Remove what was approved from Hudi tables"
    queue = "destructive"
    destroys = True
    start_roles = frozenset()
    schedule = Schedule(every=timedelta(seconds=10))

    def scheduled_params(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        """Wanted where a list may be acted on and no other such run is under way."""
        if is_busy(lake, self.name, now=now):
            return None
        return {} if hudi_lists_ready(lake, now=now).exists() else None

    def prepare(self, run: Run) -> None:
        """Take the lists, and make the run's fence; asked again they are the same."""
        now = timezone.now()
        hudi_lists_claim(run, now=now)
        fence_open(run, now=now)


def hudi_lists_ready(lake: str, *, now: datetime) -> QuerySet[RemovalPlan]:
    """Return the lists of Hudi tables that may be acted on."""
    return lists_ready(lake, "hudi", now=now)


def hudi_lists_claim(run: Run, *, now: datetime) -> int:
    """Let a run take the lists that may be acted on; asked again it keeps those that it has."""
    policies = hudi_policies_of(run.lake)

    def is_allowed(plan: RemovalPlan) -> bool:
        policy = policies.of(plan.subject.db, plan.subject.table).policy
        return policy.is_on and TASKS[plan.kind][0] in policy.kinds

    return lists_claim(
        run, hudi_lists_ready(run.lake, now=now), is_allowed, most=MOST_LISTS, now=now
    )


def register_hudi_kinds() -> None:
    """Tell the platform of the runs of this file."""
    register(HudiServicesKind())
    register(HudiRemoveKind())
