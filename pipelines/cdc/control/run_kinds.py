"""The run that stays and applies the changes of a lake's pipelines."""

import contextlib
import os
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q
from django.utils import timezone

from pipelines.cdc.control.services.orders import (
    has_orders,
    locations_find,
    orders_json,
    passwords_of,
)
from pipelines.cdc.control.services.results import results_hear
from pipelines.cdc.control.services.topics import topics_hear
from pipelines.cdc.protecting.services.lake_keys import keys_of_lake
from portal.lake.errors import PortalError
from portal.runs.domain import RunState, Schedule
from portal.runs.kinds.registry import RunKind, register, write_cancel
from portal.runs.models import Run
from portal.runs.records.spools import open_spool
from portal.safety.selectors import emergency_stop_wait
from portal.safety.services import tell_stop

APPLY_KIND = "pipelines.cdc_apply"
STAY = timedelta(hours=6)
AFTER_A_FAILURE = timedelta(minutes=2)
_EVERY = Schedule(every=timedelta(seconds=10))
_ORDERS, _SEEN = "apply", "seen"


class ApplyKind(RunKind):
    """Applies batches of changelogs to Hudi tables for hours; another follows it.

    It is no acting kind: a commit of a table happens or does not, and names the batches that it
    has, so whoever comes after applies each of them once. What it says is read at its beats, and
    what it is to do is written there.
    """

    name = APPLY_KIND
    title = "Apply captured changes"
    job = "pipelines.cdc.applying.jobs.apply"
    writes_tables = True
    stays = True
    schedule = _EVERY
    attempts = 5  # where its host was restarted, say
    longest = STAY + timedelta(hours=2)

    def scheduled_params(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        """Wanted where tables are captured, one at a time of a lake."""
        ended = Q(state=RunState.FAILED) | Q(cancel_requested_at__isnull=False)
        lately = ended & Q(finished_at__gt=now - AFTER_A_FAILURE)
        runs = Run.objects.filter(lake=lake, kind=self.name)
        if runs.filter(Q(finished_at=None) | lately).exists() or emergency_stop_wait(lake):
            return None
        return {} if has_orders(lake) else None

    def request(self, run: Run) -> dict[str, Any]:
        """Say what is to be applied at its start, and for how long it stays."""
        locations_find(run.lake)
        return {_ORDERS: orders_json(run.lake), "stay_seconds": STAY.total_seconds()}

    def environment(self, run: Run) -> dict[str, str]:
        """Give it the log-ins of Kafka, and the keys of protected columns.

        All keys of the lake: which of them it needs may change while it stays.
        """
        return passwords_of(run.lake) | keys_of_lake(run.lake, os.environ)

    def waits(self, run: Run, *, now: datetime) -> str:
        """Wait while the emergency stop is on."""
        return emergency_stop_wait(run.lake)

    def beat(self, run: Run) -> None:
        """Hear what it did, and say what it does next; or that it has to end."""
        if not run.spool or tell_stop(run):
            return
        if run.cancel_requested_by:
            write_cancel(run)
            return
        if run.state != RunState.RUNNING or not run.progress_n:
            return
        spool = open_spool(run)
        before = spool.read_control()
        now = timezone.now()
        seen = results_hear(run, before.get(_SEEN, {}), now=now)
        topics_hear(run.lake, now=now)
        # The metastore may be away for a moment; tables that have a place go on.
        with contextlib.suppress(PortalError):
            locations_find(run.lake)
        desired = {_ORDERS: orders_json(run.lake), _SEEN: seen}
        if desired != before:
            spool.write_control(desired)

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Hear what it did since its last beat."""
        if run.spool:
            seen = open_spool(run).read_control().get(_SEEN, {})
            results_hear(run, seen, now=timezone.now())
            topics_hear(run.lake, now=timezone.now())


def register_apply_kind() -> None:
    """Tell the platform of the run of this file."""
    register(ApplyKind())
