"""Writes a step of an incident: the row, its history and the audit record, for whoever holds it."""

from datetime import datetime, timedelta

from django.conf import settings

from portal.audit.services import audit_record
from quality.incidents.domain.states import UNCLOSED, Action, Standing, State, Timing
from quality.incidents.services.hooks import has_hook
from quality.models import Incident, IncidentEvent

BY_CHECKS, BY_SCHEDULE = "checks", "schedule"
_MAILED = frozenset(
    {Action.OPENED, Action.ASSIGNED, Action.ESCALATED, Action.LAPSED, Action.WORSENED}
)
"""Whoever has it now is written to; a person's reopening is mailed too."""


def timing() -> Timing:
    """Return what the settings say of escalation; 0 hours: never."""
    operators, admins, acknowledged = settings.LAKEWARDEN_INCIDENT_HOURS
    return Timing(_hours(operators), _hours(admins), _hours(acknowledged))


def step(
    row: Incident, to: Standing, action: Action, *, by: str, now: datetime, text: str = ""
) -> None:
    """Write a step of an incident that is locked, or new, in the caller's transaction."""
    was_closed = row.closed_at is not None
    row.state, row.severity = to.state.value, to.severity.value
    row.team, row.assignee, row.due_at = to.team.value, to.assignee, to.due_at
    row.version += 1
    if to.state is State.ACKNOWLEDGED:
        row.acknowledged_by, row.acknowledged_at = by, now
    elif to.state is State.OPEN:
        row.acknowledged_by, row.acknowledged_at = "", None
    if to.state in UNCLOSED:
        row.closed_at, row.closed_by, row.resolution, row.reason = None, "", "", ""
    else:
        row.closed_at, row.closed_by = now, by
    row.is_open = True if to.state in UNCLOSED else None
    row.save()
    is_mailed = action in _MAILED or (was_closed and by != BY_CHECKS)
    IncidentEvent.objects.create(
        incident=row,
        lake=row.lake,
        at=now,
        actor=by,
        action=action.value,
        text=text,
        mail_at=now if is_mailed else None,
        hook_at=now if has_hook() else None,
    )
    audit_record(
        f"incident.{action.value}",
        actor=by,
        lake=row.lake,
        object_type="table",
        object_id=row.table_name,
        data={
            "incident": row.pk,
            "rule": row.rule,
            "severity": row.severity,
            "assignee": row.assignee,
            "team": row.team,
            "resolution": row.resolution,
            "text": text,
        },
        now=now,
    )


def _hours(n_hours: int) -> timedelta | None:
    return timedelta(hours=n_hours) if n_hours > 0 else None
