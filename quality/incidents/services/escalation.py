"""Escalates incidents that nobody acknowledged, ends acknowledgements, deletes old incidents."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from quality.incidents.domain.states import Action, State, Team, escalated, lapsed
from quality.incidents.services.steps import BY_SCHEDULE, step, timing
from quality.models import Incident

_AT_ONCE = 200
_TO = {Team.OPERATORS: "to the operators", Team.ADMINS: "to the admins"}


def incidents_escalate(lake: str, *, now: datetime) -> int:
    """Take each step that is due by itself; returns how many. Done again at once it takes none."""
    due = Incident.objects.filter(lake=lake, due_at__lte=now).order_by("due_at", "pk")
    ids = list(due.values_list("pk", flat=True)[:_AT_ONCE])
    return sum(_move(row_id, now=now) for row_id in ids)


def incidents_trim(lake: str, *, now: datetime) -> int:
    """Delete incidents that were closed long ago, with their history; returns how many."""
    before = now - timedelta(days=settings.LAKEWARDEN_INCIDENT_DAYS)
    old = Incident.objects.filter(lake=lake, closed_at__lt=before).order_by("closed_at", "pk")
    ids = list(old.values_list("pk", flat=True)[:_AT_ONCE])
    Incident.objects.filter(pk__in=ids, closed_at__lt=before).delete()
    return len(ids)


@transaction.atomic
def _move(row_id: int, *, now: datetime) -> int:
    row = Incident.objects.select_for_update().filter(pk=row_id, due_at__lte=now).first()
    if row is None:
        return 0
    if row.state == State.ACKNOWLEDGED:
        to, action = lapsed(row.standing, timing=timing(), now=now), Action.LAPSED
        text = f"{row.assignee} acknowledged it, and it has not recovered."
    else:
        to, action = escalated(row.standing, timing=timing(), now=now), Action.ESCALATED
        text = f"Nobody acknowledged it: {_TO[to.team]}." if to is not None else ""
    if to is None:  # the settings say otherwise now
        row.due_at = None
        row.save(update_fields=["due_at"])
        return 0
    step(row, to, action, by=BY_SCHEDULE, now=now, text=text)
    return 1
