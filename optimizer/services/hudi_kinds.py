"""Which runs serve Hudi tables? Many tables in one Spark application, one run at a time a lake.

One kind of run ends with its tasks, another stays with the tables whose policy asks for it. What
people approved goes in runs of their own, in the lake's working hours, as of Iceberg tables.
"""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from optimizer.domain.hudi.tasks import TASKS
from optimizer.models import RemovalPlan
from optimizer.selectors.hudi_policies import hudi_policies_of
from optimizer.selectors.hudi_resident import RESIDENT, resident_tables
from optimizer.services.hudi_dispatching import hudi_choose, hudi_claim
from optimizer.services.hudi_orders import orders_of
from optimizer.services.hudi_queueing import hudi_decide
from optimizer.services.hudi_resident import resident_hear, resident_left, resident_turn
from optimizer.services.hudi_results import hudi_reclaim, hudi_results_ingest
from optimizer.services.removal_fences import FencedKind, fence_open
from optimizer.services.removal_kinds import lists_claim, lists_ready
from optimizer.services.task_kinds import AFTER_A_FAILURE, OptimizeKind
from portal.runs.domain import RunState, Schedule
from portal.runs.kinds import register
from portal.runs.models import Run
from portal.runs.spools import open_spool
from portal.safety.selectors import red_button_wait

KIND, REMOVE_KIND = "hudi_services", "hudi_remove"
MOST_LISTS = 20
STAY = timedelta(hours=6)


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


class HudiResidentKind(HudiServicesKind):
    """Stays with tables: looks at them when they change, and serves them as it is decided.

    It ends by itself after some hours, so that no process lives for ever, and the next one follows.
    One that a person ended is not followed at once.
    """

    name = RESIDENT
    job = "optimizer.jobs.hudi.resident"
    title = "Stay with Hudi tables"
    stays = True
    attempts = 5  # where its host was restarted, say
    longest = STAY + timedelta(hours=24)  # what it has begun is ended first

    def scheduled_params(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        """Wanted where a policy says so of a table and no other such run is under way."""
        ended = Q(cancel_requested_at__gt=now - AFTER_A_FAILURE)
        if not resident_tables(lake) or _is_busy(lake, self.name, now=now, too=ended):
            return None
        return {}

    def prepare(self, run: Run) -> None:
        """Nothing: it is told at its beats what to do."""

    def request(self, run: Run) -> dict[str, Any]:
        """Say for how long it stays."""
        return {"stay_seconds": STAY.total_seconds()}

    def wanted(self, run: Run) -> dict[str, Any]:
        """Hear what it did, and say what it does next."""
        return resident_turn(run, hudi_decide, now=timezone.now())

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Take in what it did since its last beat; what it did not come to waits again."""
        now = timezone.now()
        if run.spool:
            resident_hear(run, hudi_decide, before=open_spool(run).read_control(), now=now)
            resident_left(run, manifest, now=now)
        super().ingest(run, manifest)


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
        if _is_busy(lake, self.name, now=now):
            return None
        return {} if hudi_lists_ready(lake, now=now).exists() else None

    def prepare(self, run: Run) -> None:
        """Take the lists, and make the run's fence; asked again they are the same."""
        now = timezone.now()
        hudi_lists_claim(run, now=now)
        fence_open(run, now=now)


def hudi_lists_ready(lake: str, *, now: datetime) -> QuerySet[RemovalPlan]:
    """Give the lists of Hudi tables that may be acted on."""
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
    register(HudiResidentKind())
    register(HudiRemoveKind())


def _is_busy(lake: str, kind: str, *, now: datetime, too: Q | None = None) -> bool:
    """Whether a run is under way, or failed a moment ago and would again, or none may begin.

    `too` are other runs after which none begins.
    """
    lately = Q(state=RunState.FAILED, finished_at__gt=now - AFTER_A_FAILURE)
    if too is not None:
        lately |= too
    runs = Run.objects.filter(lake=lake, kind=kind).filter(Q(finished_at=None) | lately)
    return runs.exists() or bool(red_button_wait(lake))
