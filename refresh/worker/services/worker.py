"""Worker that plans and sends in a cluster: who leads, and what the leader does in a turn.

Any number of workers may run. For each cluster one leads, by a lease; its statements run in
threads, and their rows are the truth: what a dead worker left running is called lost by the next
leader, and asked for again.
"""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from datetime import datetime, timedelta
from functools import partial
from time import monotonic
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection, transaction

from portal.lake.errors import PortalError
from portal.lake.working_hours import WorkingHours
from portal.log_context import bound
from portal.runs.claims.leases import lease_release, lease_take
from refresh.changes.domain.pressure import Pressure, PressureLimits, pressure
from refresh.clusters.domain.frontends import FeState
from refresh.clusters.services.clusters import cluster_read
from refresh.clusters.services.fe_cache_settings import settings_read_due
from refresh.clusters.services.front_ends import front_ends_greet, front_ends_list
from refresh.clusters.services.table_names import names_read
from refresh.core.domain.clock import Clock
from refresh.core.domain.versions import oldest
from refresh.core.services.rate_limit import fe_began, metastore_pays
from refresh.freshness.services.freshness import judge_cluster
from refresh.history.services import history_forget
from refresh.models import (
    Cluster,
    ClusterFrontEnd,
    Refresh,
    RefreshOutcome,
    RefreshTarget,
    TargetFrontEnd,
    WatchedTable,
)
from refresh.verify.services.sweeping import sweep
from refresh.worker.domain.lanes import metastore_calls
from refresh.worker.domain.scheduling import Cluster as Askable
from refresh.worker.domain.scheduling import Limits, choose
from refresh.worker.domain.steps import Step, StepKind
from refresh.worker.services.planning import plan
from refresh.worker.services.results import end, give_up, load_result
from refresh.worker.services.sending import Order, begin, send
from refresh.worker.services.waiting_line import PLACE, n_ahead, ready, running, turns, waiting

_log = logging.getLogger(__name__)
LEASE = timedelta(seconds=30)
READ_EVERY = timedelta(seconds=5)
BROKEN = timedelta(minutes=1)
NAMES_EVERY = timedelta(minutes=5)
SWEEP_EVERY = timedelta(seconds=30)
PRESSURE = PressureLimits()
# The second is what a driver says of a line that it has lost already, and is no DatabaseError.
_NO_ANSWER = (OperationalError, InterfaceError)
_PLANNERS = 4
_AT_ONCE = 500
_TRIES = 3
_AHEAD = 24


class Worker:
    """One process's part of the work, for every cluster that it leads."""

    def __init__(self, *, holder: str, clock: Clock, senders: int = 32) -> None:
        self._holder = holder
        self._clock = clock
        self._senders = ThreadPoolExecutor(senders, thread_name_prefix="send")
        # A plan asks its lake's metastore: one that hangs holds up no plan of another lake.
        self._planners: dict[str, ThreadPoolExecutor] = {}
        self._readers = ThreadPoolExecutor(8, thread_name_prefix="read")
        self._sweepers = ThreadPoolExecutor(2, thread_name_prefix="sweep")
        self._lock = threading.Lock()
        self._sent: set[int] = set()
        self._planned: set[int] = set()
        self._greeted: set[int] = set()
        self._read: set[int] = set()
        self._swept: set[int] = set()
        self._judged: set[int] = set()
        self._looked_at: dict[int, datetime] = {}
        self._swept_at: dict[int, datetime] = {}
        self._settings_at: dict[int, datetime] = {}
        self.wakeup = threading.Event()

    def turn(self) -> int:
        """Do what can be done now in every cluster that this worker leads; returns how many began.

        `poked` is set when something ended since, so that a next turn may find more to do.
        """
        self.wakeup.clear()
        n_began = 0
        for cluster in Cluster.objects.order_by("pk"):
            with bound(task="refresh_worker", cluster=cluster.name):
                n_began += self._turn(cluster)
        return n_began

    def stop(self) -> None:
        """Wait for what runs, then give the leases back."""
        for pool in (*self._planners.values(), self._readers, self._sweepers, self._senders):
            pool.shutdown(wait=True)
        for cluster in Cluster.objects.all():
            lease_release(cluster.lease_name, holder=self._holder, now=self._clock())

    def wait_idle(self, seconds: float) -> bool:
        """Wait until nothing is in flight; for tests and commands that run until all is done."""
        deadline = monotonic() + seconds
        while monotonic() < deadline:
            self.wakeup.clear()
            with self._lock:
                reading = (self._greeted, self._read, self._judged)
                if not any((self._sent, self._planned, self._swept, *reading)):
                    return True
            self.wakeup.wait(0.5)
        return False

    # -- one cluster -----------------------------------------------------------------------

    def _turn(self, cluster: Cluster) -> int:
        now = self._clock()
        epoch = lease_take(cluster.lease_name, holder=self._holder, length=LEASE, now=now)
        if epoch is None:
            return 0
        self._clear_lost(cluster, now=now)
        is_due = now - self._looked_at.get(cluster.pk, now - READ_EVERY) >= READ_EVERY
        if is_due or cluster.read_requested_at is not None:
            self._looked_at[cluster.pk] = now
            self._submit(self._readers, self._greeted, cluster.pk, lambda: self._greet(cluster))
            self._submit(self._readers, self._read, cluster.pk, lambda: self._look(cluster))
        self._judge(cluster)
        if cluster.is_paused:
            return 0
        # What is known to wait goes out first: the first sweep comes later.
        if now - self._swept_at.setdefault(cluster.pk, now) >= SWEEP_EVERY:
            self._swept_at[cluster.pk] = now
            self._submit(self._sweepers, self._swept, cluster.pk, lambda: self._sweep(cluster))
        self._plan(cluster, now=now)
        return self._send(cluster, epoch=epoch, now=now)

    def _clear_lost(self, cluster: Cluster, *, now: datetime) -> None:
        """Give up statements that no thread of ours waits for: their worker is gone."""
        for row in Refresh.objects.filter(cluster=cluster, ending=RefreshOutcome.RUNNING):
            with self._lock:
                is_ours = row.pk in self._sent
            if not is_ours:
                give_up(row, now=now)

    def _greet(self, cluster: Cluster) -> None:
        """Find out who answers, apart from the list, which a frozen front end holds up."""
        front_ends_greet(cluster, now=self._clock())
        wake(cluster, now=self._clock())

    def _look(self, cluster: Cluster) -> None:
        began = self._clock()
        old = cluster.names_read_at is None or cluster.names_read_at <= began - NAMES_EVERY
        if cluster.read_requested_at is not None:
            cluster_read(cluster, now=began)
        else:
            front_ends_list(cluster, now=began)
            self._read_settings(cluster)
            if old:
                names_read(cluster, now=self._clock())
        _measure(cluster)

    def _read_settings(self, cluster: Cluster) -> None:
        """Read the settings that are due; who refused them is asked again only after a while."""
        now = self._clock()
        if self._settings_at.get(cluster.pk, now) > now:
            return
        settings_read_due(cluster, now=now)
        cluster.refresh_from_db(fields=["problem"])
        if "Settings: " in cluster.problem:
            self._settings_at[cluster.pk] = now + NAMES_EVERY

    def _judge(self, cluster: Cluster) -> None:
        """Judge all tables again once a front end came or went since they were judged."""
        states = {fe.name: fe.state.value for fe in cluster.front_ends.all()}
        if cluster.judged_states != states:
            work = partial(judge_cluster, cluster, states)
            self._submit(self._sweepers, self._judged, cluster.pk, work)

    def _sweep(self, cluster: Cluster) -> None:
        history_forget(cluster, now=self._clock())
        sweep(cluster, clock=self._clock)

    def _plan(self, cluster: Cluster, *, now: datetime) -> None:
        """Plan what is due, but not far ahead: what changes until it is sent joins its plan."""
        rows = RefreshTarget.objects.filter(
            cluster=cluster, due_at__lte=now, steps__isnull=True, running_since=None
        ).exclude(not_before__gt=now)
        # Each catalog and each metastore has a line of its own: one that stands holds up no other.
        for catalog, lake in rows.values_list("catalog", "watched__lake").distinct():
            room = max(0, _AHEAD - n_ahead(cluster, catalog, lake, now=now))
            some = rows.filter(catalog=catalog, watched__lake=lake).order_by(PLACE, "pk")
            some = some.select_related("watched", "cluster")
            for target in some[: min(_PLANNERS * 4, room)]:
                work = partial(self._plan_one, target)
                self._submit(self._planners_of(lake), self._planned, target.pk, work)

    def _planners_of(self, lake: str) -> ThreadPoolExecutor:
        if lake not in self._planners:
            self._planners[lake] = ThreadPoolExecutor(_PLANNERS, thread_name_prefix="plan")
        return self._planners[lake]

    def _plan_one(self, target: RefreshTarget) -> None:
        try:
            plan(target, now=self._clock())
        except Exception:
            # One table that breaks the plan must not come first for ever.
            later = self._clock() + BROKEN
            RefreshTarget.objects.filter(pk=target.pk).update(
                not_before=later, problem="Its plan broke; the log of the worker says why."
            )
            raise

    def _send(self, cluster: Cluster, *, epoch: int, now: datetime) -> int:
        fes = {fe.name: fe for fe in cluster.front_ends.all()}
        asked = [fe for fe in fes.values() if _may_be_sent_to(fe, now=now)]
        if not asked:
            return 0
        planned = ready(cluster, now=now)
        turn_ends = turns(planned.values(), now=now)
        starts = choose(
            [
                waiting(target, turn_ended=turn_ends.get(target.pk), now=now)
                for target in planned.values()
            ],
            running=running(cluster),
            cluster=Askable(
                [fe.name for fe in asked],
                oldest(fe.dialect for fe in asked),
                _giants(cluster, now=now),
            ),
            limits=Limits(
                cluster.per_fe, cluster.per_catalog, has_lanes=settings.LAKEWARDEN_REFRESH_LANES
            ),
            now=now,
        )
        return sum(
            self._start(planned[start.waiting.key], fes[start.fe], epoch=epoch) for start in starts
        )

    def _start(self, target: RefreshTarget, fe: ClusterFrontEnd, *, epoch: int) -> bool:
        now = self._clock()
        n_fes = target.cluster.front_ends.count()
        if not metastore_pays(target.watched.lake, _calls(target, fe, n_fes=n_fes), now=now):
            return False
        order = begin(target, fe, epoch=epoch, now=now)
        if order is None:
            return False
        fe_began(fe, now=now)
        self._submit(
            self._senders,
            self._sent,
            order.refresh_id,
            lambda: self._carry_out(order, target.cluster),
        )
        return True

    def _carry_out(self, order: Order, cluster: Cluster) -> None:
        result = load_result(order, send(order, cluster=cluster))
        for _ in range(_TRIES - 1):
            try:
                end(order, result, now=self._clock())
            except _NO_ANSWER as error:
                # A deadlock's victim, or the line is gone: the answer is still true.
                _log.warning("an answer is written again: %s", error)
                connection.close()
            else:
                return
        end(order, result, now=self._clock())

    # -- threads ---------------------------------------------------------------------------

    def _submit(
        self,
        pool: ThreadPoolExecutor,
        known: set[int],
        key: int,
        work: Callable[[], object],
    ) -> None:
        """Do something in a thread, unless it is being done; the thread's errors end here."""
        with self._lock:
            if key in known:
                return
            known.add(key)
        future = pool.submit(copy_context().run, _guarded, work)

        def over(_: Future[None]) -> None:
            with self._lock:
                known.discard(key)
            self.wakeup.set()

        future.add_done_callback(over)


def wake(cluster: Cluster, *, now: datetime) -> None:
    """Let those wait again that a front end owes that could not be asked, and can be now.

    What was given up for another reason stays so: the sweep, or somebody, asks again.
    """
    alive = [fe.pk for fe in cluster.front_ends.all() if fe.state is FeState.ALIVE]
    owing = TargetFrontEnd.objects.filter(fe__in=alive, needs_refresh=True).values("target")
    resting = RefreshTarget.objects.filter(cluster=cluster, due_at=None, problem="")
    rows = list(resting.filter(pk__in=owing).values_list("pk", "watched"))
    for start in range(0, len(rows), _AT_ONCE):
        keys, tables = zip(*rows[start : start + _AT_ONCE], strict=True)
        with transaction.atomic():
            # Whoever writes at several targets locks their tables first, in the keys' order.
            locked = WatchedTable.objects.select_for_update().filter(
                pk__in=tables, is_opted_out=False
            )
            asked = list(locked.order_by("pk").values_list("pk", flat=True))
            found = resting.filter(pk__in=keys, watched__in=asked)
            found.update(due_at=now, waits_since=now)


def _may_be_sent_to(fe: ClusterFrontEnd, *, now: datetime) -> bool:
    """Return whether it lives, lets us in, and rests not from failures."""
    return fe.state is FeState.ALIVE and not fe.login_refused and fe.breaker.allows(now)


def _giants(cluster: Cluster, *, now: datetime) -> bool:
    return WorkingHours.read(cluster.large_table_window).is_open(now, ZoneInfo("UTC"))


def _calls(target: RefreshTarget, fe: ClusterFrontEnd, *, n_fes: int) -> int:
    step = Step(StepKind.TABLE)
    if target.steps:
        first = target.steps[0]
        step = Step(StepKind(first["kind"]), tuple(first["partitions"]))
    return metastore_calls(
        step,
        n_in_table=target.watched.n_partitions or 0,
        n_fes=n_fes,
        dialect=fe.dialect,
    )


def _measure(cluster: Cluster) -> None:
    n = RefreshTarget.objects.filter(cluster=cluster).exclude(due_at=None).count()
    level = pressure(n, before=Pressure(cluster.pressure), limits=PRESSURE)
    Cluster.objects.filter(pk=cluster.pk).update(pressure=level)


def _guarded(work: Callable[[], object]) -> None:
    """The outer door of a thread: an error costs one turn, and the row still says what is due."""
    try:
        work()
    except PortalError as error:
        _log.warning("%s", error.message)
    except (DatabaseError, InterfaceError) as error:
        _log.warning("the database did not answer: %s", error)
        connection.close()
    except Exception:
        _log.exception("a turn failed")
