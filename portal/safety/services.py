"""Stops everything that acts on a lake at once, and starts it again.

One rule: everybody who is signed in may press, with a reason, as stopping is always safe; only an
admin may release. API tokens do neither. The press is a row; supervise copies it into every acting
run's control.json within 10 s.
"""

from datetime import datetime

from django.db import IntegrityError, transaction

from portal.access.models import User
from portal.audit.services import audit_record
from portal.lake.errors import NotAllowed, StaleState
from portal.lake.reasons import check_reason, shown_text
from portal.runs.domain import RunState
from portal.runs.kinds.registry import all_kinds
from portal.runs.models import Run
from portal.runs.outbox.services import publish_run
from portal.safety.models import EmergencyStop
from portal.safety.release import released


def emergency_stop_start(
    *, lake: str, pressed_by: str, reason: str, now: datetime
) -> EmergencyStop:
    """Stop all acting on `lake`; pressing it again keeps the first press and its reason.

    The program itself presses it as `system` on a DataSafetyError.
    """
    check_reason(reason, "red_button.reason", "Enter a reason for the stop.")
    try:
        with transaction.atomic():
            button = EmergencyStop.objects.create(
                lake=lake, pressed_by=pressed_by, pressed_at=now, reason=reason.strip()
            )
            audit_record(
                "red_button.pressed",
                actor=pressed_by,
                lake=lake,
                object_type="lake",
                object_id=lake,
                data={"reason": button.reason},
                now=now,
            )
            return button
    except IntegrityError:
        return EmergencyStop.objects.get(lake=lake, released_at__isnull=True)


def emergency_stop_on_danger(lake: str, *, run_id: str, reason: str, now: datetime) -> None:
    """Stop all acting because a run met a DataSafetyError; the platform calls this."""
    # What a run met may name a path with any sign in it: the stop itself is never refused.
    why = shown_text(f"Run {run_id}: {reason}")
    emergency_stop_start(lake=lake, pressed_by="system", reason=why, now=now)


def emergency_stop_end(*, lake: str, user: User, reason: str, now: datetime) -> None:
    """Let `lake` be acted on again: an admin, with a reason; StaleState when it is not pressed."""
    if not user.is_lake_admin:
        raise NotAllowed("red_button.admin", "Only an admin may end the emergency stop.")
    check_reason(reason, "red_button.reason", "Enter a reason for resuming.")
    with transaction.atomic():
        standing = EmergencyStop.objects.select_for_update().filter(
            lake=lake, released_at__isnull=True
        )
        press = standing.first()
        if press is None:
            raise StaleState("red_button.released", "The emergency stop is not on (any more).")
        standing.update(released_by=user.username, released_at=now, release_reason=reason.strip())
        afterwards = released(lake, pressed_at=press.pressed_at, now=now)
        audit_record(
            "red_button.released",
            actor=user.username,
            lake=lake,
            object_type="lake",
            object_id=lake,
            data={"reason": reason.strip()},
            now=now,
        )
        _hint_waiting(lake, now=now)
    for finish in afterwards:
        finish()


def _hint_waiting(lake: str, *, now: datetime) -> None:
    """Tell workers at once of what waited; else they would hear of it within ten minutes."""
    kinds = [kind.name for kind in all_kinds() if kind.destroys]
    for run in Run.objects.filter(lake=lake, state=RunState.QUEUED, kind__in=kinds):
        publish_run(run, now=now)
