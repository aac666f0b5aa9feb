"""Scheduled run kinds and ticks: make and start plans, probe, the final notice, report, purge.

The platform asks each kind in its slot whether it is wanted; one key a slot makes two clocks
harmless.
"""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from lifecycle.backup.services.beating import act_beat
from lifecycle.backup.services.fencing import purge_prepare
from lifecycle.backup.services.probing import probes_ingest, probes_request
from lifecycle.backup.services.purging import purge_ingest
from lifecycle.backup.services.settling import act_settle
from lifecycle.drop.services.execution import plans_turn
from lifecycle.drop.services.standing_plans import standing_plans_make
from lifecycle.drop.services.standing_rules import standing_rules_live
from lifecycle.inventory.selectors.findings import current_generation
from lifecycle.notices.services.daily_report import REPORT, daily_report_queue
from lifecycle.planning.services.approved_runs import START_EVERY
from lifecycle.restore.services.late_commits import late_commits_queue
from lifecycle.restore.services.purges import (
    NOTICE_KIND,
    PURGE_KIND,
    last_chance_queue,
    purge_due,
)
from portal.access.lakes import get_lake, job_environment
from portal.lake.clock import day_of
from portal.runs.domain import Schedule
from portal.runs.kinds.registry import RunKind, register
from portal.runs.kinds.ticks import Tick, register_tick
from portal.runs.models import Run
from portal.safety.selectors import emergency_stop_state


class StandingPlansKind(RunKind):
    """Has the plans of standing rules created, once from each new picture of the lake."""

    name = "lifecycle.standing_plans"
    title = "Plans of standing rules"
    queue = "plan"
    schedule = Schedule(every=timedelta(minutes=1))

    def scheduled_key(self, lake: str, slot: str) -> str:
        """Ask once a picture, in whichever slot it is seen first."""
        generation = current_generation(lake)
        return f"{self.name}:{lake}:{generation.pk if generation else 'none'}"

    def scheduled_params(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        """Wanted when there is a picture and a rule, and nothing stops what it would start."""
        stopped = emergency_stop_state(lake) is not None
        if stopped or current_generation(lake) is None or not standing_rules_live(lake):
            return None
        return {"now": now.isoformat()}

    def execute(self, run: Run) -> dict[str, Any]:
        """Let rules begin and end, and have the day's plans created."""
        now = datetime.fromisoformat(run.params["now"])
        return {"plans": [str(plan.pk) for plan in standing_plans_make(run.lake, now)]}


class ProbeKind(RunKind):
    """Looks at backups again: late commits at the live path, damage in the backup.

    Late data is registered again, which is acting: a probe waits while the emergency stop is on.
    """

    name = "lifecycle.probe"
    job = "lifecycle.restore.jobs.probe"
    title = "Probe backups"
    queue = "restore"
    schedule = Schedule(every=timedelta(seconds=20))

    def scheduled_params(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        """Wanted when probes are due, nothing stops them and no other probe run is under way."""
        busy = Run.objects.filter(lake=lake, kind=self.name, finished_at=None)
        if busy.exists() or emergency_stop_state(lake) is not None:
            return None
        return probes_request(lake, now=now)

    def beat(self, run: Run) -> None:
        """Tell the job of cancel and the emergency stop."""
        act_beat(run, now=timezone.now())

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Take what was found and tell the owners; damage turns the emergency stop on."""
        results = (manifest.get("result") or {}).get("results") or []
        now = timezone.now()
        probes_ingest(
            run.lake,
            results,
            run_id=run.pk,
            now=now,
            tell=lambda told: late_commits_queue(run, told, now=now),
        )


class LastChanceKind(RunKind):
    """Tells owners three days before their backups are purged."""

    name = NOTICE_KIND
    title = "Final notices"
    queue = "mail"
    schedule = Schedule(daily_at_hour=7)

    def execute(self, run: Run) -> dict[str, Any]:
        """Queue the mails."""
        now = datetime.fromisoformat(run.params["now"])
        return {"mails": last_chance_queue(run.lake, now=now)}


class DailyReportKind(RunKind):
    """Writes the day's reports and alarms, once the night's scan, drops and purges are over."""

    name = REPORT
    title = "Daily report"
    queue = "mail"
    schedule = Schedule(daily_at_hour=8)

    def scheduled_params(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        """Wanted once the day's scan is shown; a day without one is reported with the next."""
        generation = current_generation(lake)
        today = day_of(now, get_lake(lake).zone)
        if generation is None or generation.day != today:
            return None
        return {"now": now.isoformat()}

    def execute(self, run: Run) -> dict[str, Any]:
        """Queue the mails."""
        generation = current_generation(run.lake)
        now = datetime.fromisoformat(run.params["now"])
        return {"mails": daily_report_queue(generation, now=now) if generation else 0}


class PurgeKind(RunKind):
    """Destroys backups whose days are over and whose final notice was said."""

    name = PURGE_KIND
    job = "lifecycle.restore.jobs.purge"
    title = "Purge old backups"
    queue = "destructive"
    acting = True
    destroys = True
    schedule = Schedule(daily_at_hour=3)

    def environment(self, run: Run) -> dict[str, str]:
        """Return the job the password of the metastore's database: it asks for live locations."""
        return job_environment(run.lake)

    def scheduled_params(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        """Wanted when something may be purged."""
        batches = purge_due(lake, now=now)
        return {"batches": [str(one.public_id) for one in batches]} if batches else None

    def prepare(self, run: Run) -> None:
        """Claim the backups behind a fence."""
        _claims(run)

    def request(self, run: Run) -> dict[str, Any]:
        """Return the job the claims."""
        return _claims(run)

    def beat(self, run: Run) -> None:
        """Renew the lease and tell the job of cancel, holds and the emergency stop."""
        act_beat(run, now=timezone.now())

    def settle(self, run: Run) -> None:
        """Seal and settle."""
        act_settle(run, now=timezone.now())

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Take the files' word into the catalogue, and tell of data that came to light."""
        now = timezone.now()
        purge_ingest(
            run, manifest, now=now, tell=lambda told: late_commits_queue(run, told, now=now)
        )


def _claims(run: Run) -> dict[str, Any]:
    """Claim what may still be purged now; holds and emergency stop may have come since."""
    now = timezone.now()
    asked = frozenset(run.params["batches"])
    batches = [one for one in purge_due(run.lake, now=now) if str(one.public_id) in asked]
    return purge_prepare(run, batches=batches, now=now)


def register_clock_kinds() -> None:
    """Tell the platform of the runs and the tick of this file."""
    register_tick(Tick("lifecycle.plans", START_EVERY, plans_turn))
    kinds = (
        StandingPlansKind(),
        ProbeKind(),
        LastChanceKind(),
        DailyReportKind(),
        PurgeKind(),
    )
    for kind in kinds:
        register(kind)
