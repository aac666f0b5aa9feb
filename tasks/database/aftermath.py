"""Makes a restored database harmless: the lake, mails and people have moved on since its moment.

Nothing that it remembers as still to be done is done by itself. What has begun is reconciled from
the files in the spool and beside the data, as after any crash.
"""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.sessions.models import Session
from django.db import transaction

from portal.access.lakes import all_lakes
from portal.audit.services import audit_record
from portal.lake.errors import StaleState
from portal.notices.models import Notice, NoticeState
from portal.runs.claims.services import run_move
from portal.runs.domain import RunState
from portal.runs.models import Lease, Outbox, Run
from portal.runs.records.logs import run_log
from portal.safety.services import emergency_stop_start

ACTOR = "restore_portal"
_NOT_SENT = (
    "The database was restored from a backup of {taken_at}, and this mail may have been sent "
    "after it. Press Try again if it was not."
)


@dataclass(frozen=True, slots=True)
class Aftermath:
    """What was kept from going on by itself."""

    lakes: list[str]
    n_runs: int
    n_notices: int
    n_sessions: int


def stand_still(*, taken_at: str, now: datetime) -> Aftermath:
    """Start the emergency stop of every lake, and end what waits; called twice it ends no more."""
    with transaction.atomic():
        lakes = sorted({*all_lakes(), *Run.objects.order_by().values_list("lake", flat=True)})
        for lake in lakes:
            emergency_stop_start(lake=lake, pressed_by=ACTOR, reason=_reason(taken_at), now=now)
        n_runs = sum(_cancel(run, now=now) for run in Run.objects.filter(state=RunState.QUEUED))
        waiting = Notice.objects.filter(state__in=[NoticeState.QUEUED, NoticeState.SENDING])
        n_notices = waiting.update(
            state=NoticeState.FAILED, error=_NOT_SENT.format(taken_at=taken_at)
        )
        # Whoever led at the moment of the backup does so no more.
        Lease.objects.filter(until__gt=now).update(until=now)
        # Of runs that have begun the watchdog tells the workers again.
        Outbox.objects.filter(published_at=None).update(published_at=now)
        n_sessions, _ = Session.objects.all().delete()
        found = Aftermath(lakes, n_runs, n_notices, n_sessions)
        audit_record(
            "database.restored",
            actor=ACTOR,
            lake="",
            object_type="database",
            object_id="portal",
            data={"taken_at": taken_at, "runs": n_runs, "notices": n_notices},
            now=now,
        )
    return found


def _reason(taken_at: str) -> str:
    return (
        f"The portal's database was restored from a backup of {taken_at}, and the lake has moved "
        "on. Follow docs/deploy.md, After a restore, before it is released."
    )


def _cancel(run: Run, *, now: datetime) -> bool:
    """End a run that waits: it may have run after the moment of the backup, under the same name."""
    try:
        run_move(
            run,
            RunState.CANCELLED,
            finished_at=now,
            cancel_requested_by=ACTOR,
            cancel_requested_at=now,
        )
    except StaleState:
        return False
    run_log(run, "Cancelled: the database was restored from a backup.", now=now, level="warning")
    return True
