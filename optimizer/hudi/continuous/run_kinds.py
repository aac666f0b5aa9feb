"""The run that stays with Hudi tables whose policy asks for it."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q
from django.utils import timezone

from optimizer.core.run_kinds import AFTER_A_FAILURE, TURNS, is_busy
from optimizer.hudi.continuous.services import resident_hear, resident_left, resident_turn
from optimizer.hudi.planner.run_kinds import HudiServicesKind
from optimizer.hudi.planner.services.planner import hudi_decide
from optimizer.hudi.tables.selectors.resident import RESIDENT, resident_tables
from portal.runs.kinds.registry import register
from portal.runs.models import Run
from portal.runs.records.spools import open_spool

STAY = timedelta(hours=6)


class HudiResidentKind(HudiServicesKind):
    """Stays with tables: looks at them when they change, and serves them as it is decided.

    It ends by itself after some hours, so that no process lives for ever, and the next one follows.
    One that a person ended is not followed at once.
    """

    name = RESIDENT
    job = "optimizer.hudi.continuous.jobs"
    title = "Hudi resident service"
    stays = True
    schedule = TURNS
    attempts = 5  # where its host was restarted, say
    longest = STAY + timedelta(hours=24)  # what it has begun is ended first

    def scheduled_params(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        """Wanted where a policy says so of a table and no other such run is under way."""
        ended = Q(cancel_requested_at__gt=now - AFTER_A_FAILURE)
        if not resident_tables(lake) or is_busy(lake, self.name, now=now, too=ended):
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


def register_continuous_kind() -> None:
    """Tell the platform of the run of this file."""
    register(HudiResidentKind())
