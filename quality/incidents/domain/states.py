"""States of an incident, and what each step makes of one.

A step that is not possible in a state returns None; who calls it says so to the person. Escalation
waits for a person who acknowledges; an acknowledgement ends after a time in which the rule did not
recover, as it does with PagerDuty.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from quality.checks.domain.rules import Severity


class State(StrEnum):
    """The states of an incident."""

    OPEN = "OPEN"
    ACKNOWLEDGED = "ACKNOWLEDGED"
    RECOVERED = "RECOVERED"
    RESOLVED = "RESOLVED"


UNCLOSED = (State.OPEN, State.ACKNOWLEDGED)
CLOSED = (State.RECOVERED, State.RESOLVED)


class Team(StrEnum):
    """Who has to look at it while no person is named; escalation goes on to the next."""

    OWNER = "owner"
    OPERATORS = "operators"
    ADMINS = "admins"


class Resolution(StrEnum):
    """Why somebody resolved it."""

    FIXED = "fixed"
    EXPECTED = "expected"
    RULE = "rule"


class Action(StrEnum):
    """Steps, as history, audit log and webhook name them."""

    OPENED = "opened"
    ACKNOWLEDGED = "acknowledged"
    ASSIGNED = "assigned"
    RESOLVED = "resolved"
    REOPENED = "reopened"
    RECOVERED = "recovered"
    ESCALATED = "escalated"
    LAPSED = "lapsed"
    WORSENED = "worsened"


@dataclass(frozen=True, slots=True)
class Timing:
    """After how long something follows by itself; None: never."""

    operators: timedelta | None
    """From the owner to the operators, without acknowledgement."""
    admins: timedelta | None
    """From the operators to the admins."""
    acknowledged: timedelta | None
    """An acknowledged incident is open again."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What steps change of an incident."""

    state: State
    severity: Severity
    team: Team
    assignee: str
    """A person's user name; empty: whoever is of the team."""
    due_at: datetime | None
    """When it escalates, or its acknowledgement ends; None: never."""


_NEXT: Mapping[Team, Team] = {Team.OWNER: Team.OPERATORS, Team.OPERATORS: Team.ADMINS}
_RANKS = {Severity.NOTE: 0, Severity.ALARM: 1, Severity.BLOCK: 2}


def opened(
    severity: Severity, *, team: Team, assignee: str, timing: Timing, now: datetime
) -> Standing:
    """Return a new incident."""
    return Standing(State.OPEN, severity, team, assignee, _escalates_at(team, timing, now))


def acknowledged(standing: Standing, *, by: str, timing: Timing, now: datetime) -> Standing | None:
    """Return it with the person who takes it; the same person again changes nothing."""
    if standing.state not in UNCLOSED:
        return None
    if standing.state is State.ACKNOWLEDGED and standing.assignee == by:
        return standing
    due_at = _after(timing.acknowledged, now)
    return replace(standing, state=State.ACKNOWLEDGED, assignee=by, due_at=due_at)


def assigned(standing: Standing, *, to: str, timing: Timing, now: datetime) -> Standing | None:
    """Return it with another person, who has not acknowledged it; the same again is the same."""
    if standing.state not in UNCLOSED:
        return None
    return (
        standing if standing.assignee == to else _open(replace(standing, assignee=to), timing, now)
    )


def closed(standing: Standing, state: State) -> Standing | None:
    """Return it recovered or resolved; one that is closed stays as it is."""
    if standing.state not in UNCLOSED:
        return None
    return replace(standing, state=state, due_at=None)


def reopened(standing: Standing, *, timing: Timing, now: datetime) -> Standing | None:
    """Return a closed incident open again, with whoever had it."""
    return _open(standing, timing, now) if standing.state in CLOSED else None


def escalated(standing: Standing, *, timing: Timing, now: datetime) -> Standing | None:
    """Return an open incident that nobody acknowledged in time, with the next team."""
    if standing.state is not State.OPEN or not _is_due(standing, now):
        return None
    team = _NEXT.get(standing.team)
    if team is None:
        return None
    return _open(replace(standing, team=team, assignee=""), timing, now)


def lapsed(standing: Standing, *, timing: Timing, now: datetime) -> Standing | None:
    """Return an incident open again whose acknowledgement is over."""
    if standing.state is not State.ACKNOWLEDGED or not _is_due(standing, now):
        return None
    return _open(standing, timing, now)


def rated(standing: Standing, severity: Severity, *, timing: Timing, now: datetime) -> Standing:
    """Return it with its rule's severity of now; a worse one needs a new acknowledgement."""
    is_worse = _RANKS[severity] > _RANKS[standing.severity]
    found = replace(standing, severity=severity)
    if is_worse and standing.state is State.ACKNOWLEDGED:
        return _open(found, timing, now)
    return found


def _open(standing: Standing, timing: Timing, now: datetime) -> Standing:
    due_at = _escalates_at(standing.team, timing, now)
    return replace(standing, state=State.OPEN, due_at=due_at)


def _escalates_at(team: Team, timing: Timing, now: datetime) -> datetime | None:
    pauses = {Team.OWNER: timing.operators, Team.OPERATORS: timing.admins}
    return _after(pauses.get(team), now)


def _after(pause: timedelta | None, now: datetime) -> datetime | None:
    return None if pause is None else now + pause


def _is_due(standing: Standing, now: datetime) -> bool:
    return standing.due_at is not None and standing.due_at <= now
