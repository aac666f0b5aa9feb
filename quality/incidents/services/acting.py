"""Steps that people take: acknowledge, assign, resolve and reopen. Whoever may see the table may.

Each names the version that the person read: who acts on what somebody else has changed since is
refused.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from portal.access.models import User
from portal.lake.errors import RuleViolation, StaleState
from portal.lake.reasons import given_reason
from quality.incidents.domain.states import (
    Action,
    Resolution,
    Standing,
    State,
    acknowledged,
    assigned,
    closed,
    reopened,
)
from quality.incidents.services.people import seeing_person
from quality.incidents.services.steps import step, timing
from quality.models import CheckSet, Incident

Move = Callable[[Standing], Standing | None]


@dataclass(frozen=True, slots=True)
class Act:
    """Who acts, when, and on which version of the incident, as they read it."""

    user: User
    version: int
    now: datetime


def incident_acknowledge(row: Incident, act: Act) -> Incident:
    """Take an incident; acknowledged by the same person again it stays as it is.

    Raises:
        StaleState: `incident.changed`, somebody else changed it, or it is closed.
    """
    by = act.user.username
    return _moved(
        row,
        Action.ACKNOWLEDGED,
        lambda known: acknowledged(known, by=by, timing=timing(), now=act.now),
        act,
    )


def incident_assign(row: Incident, act: Act, *, to: str) -> Incident:
    """Give an incident to a person, who is written to; to who has it already changes nothing.

    Raises:
        RuleViolation: `incident.assignee`, nobody of that name is here and may see the table.
        StaleState: `incident.changed`.
    """
    name = to.strip()
    if seeing_person(name, row) is None:
        raise RuleViolation(
            "incident.assignee",
            "Name somebody who has an account and may see the table.",
            field="assignee",
        )
    return _moved(
        row,
        Action.ASSIGNED,
        lambda known: assigned(known, to=name, timing=timing(), now=act.now),
        act,
        text=f"to {name}",
    )


def incident_resolve(row: Incident, act: Act, *, resolution: Resolution, reason: str) -> Incident:
    """Close an incident with a reason.

    Raises:
        RuleViolation: `incident.reason`, there is none.
        StaleState: `incident.changed`, somebody else changed it, or it is closed.
    """
    said = given_reason(reason, "incident.reason")
    return _moved(
        row,
        Action.RESOLVED,
        lambda known: closed(known, State.RESOLVED),
        act,
        text=said,
        resolution=resolution.value,
    )


@transaction.atomic
def incident_reopen(row: Incident, act: Act, *, reason: str) -> Incident:
    """Open a closed incident again, with a reason.

    Raises:
        RuleViolation: `incident.reason`, there is none; `incident.rule`, the table has no checks
            any more, or the rule has another open incident.
        StaleState: `incident.changed`, somebody else changed it, or it is open.
    """
    said = given_reason(reason, "incident.reason")
    # In the order in which results lock them, and so that none of the rule is opened meanwhile.
    checks = CheckSet.objects.select_for_update().filter(pk__in=[row.check_set_id]).first()
    others = Incident.objects.unclosed().exclude(pk=row.pk)
    if checks is None or others.filter(check_set=checks, rule=row.rule).exists():
        raise RuleViolation(
            "incident.rule",
            "The table has no checks any more, or the rule has another open incident.",
        )
    return _moved(
        row,
        Action.REOPENED,
        lambda known: reopened(known, timing=timing(), now=act.now),
        act,
        text=said,
    )


@transaction.atomic
def _moved(
    row: Incident, action: Action, move: Move, act: Act, *, text: str = "", resolution: str = ""
) -> Incident:
    known = Incident.objects.select_for_update().filter(pk=row.pk).first()
    if known is None:
        raise _stale(row)
    to = move(known.standing)
    if to is not None and to == known.standing:
        return known
    if to is None or known.version != act.version:
        raise _stale(row)
    known.resolution, known.reason = resolution, text if resolution else ""
    step(known, to, action, by=act.user.username, now=act.now, text=text)
    return known


def _stale(row: Incident) -> StaleState:
    return StaleState(
        "incident.changed",
        f"The incident {row} was changed since you loaded the page. Reload it, then act.",
        incident=row.pk,
    )
