"""People act on incidents, one of two at once, and what nobody acts on escalates."""

from datetime import timedelta
from typing import Any

import pytest

from portal.audit.models import AuditEvent
from portal.lake.errors import RuleViolation, StaleState
from quality.checks.services.declaring import checks_delete
from quality.incidents.domain.states import Resolution
from quality.incidents.services.acting import (
    Act,
    incident_acknowledge,
    incident_assign,
    incident_reopen,
    incident_resolve,
)
from quality.incidents.services.escalation import incidents_escalate, incidents_trim
from quality.models import CheckSet, Incident, IncidentEvent, IncidentWindow
from tests.component.conftest import People
from tests.component.quality.checks.checked import declare
from tests.component.quality.flag_lake import FlagLake
from tests.component.quality.incidents.failing import DAY, NOW, act, measured
from tests.support.together import together

HOUR = timedelta(hours=1)


@pytest.fixture
def checks(hive: FlagLake, people: People) -> CheckSet:
    return declare(people.owner, NOW)


@pytest.fixture
def row(checks: CheckSet) -> Incident:
    measured(checks, NOW, (DAY, 4, 0))
    return Incident.objects.get()


def steps(row: Incident) -> list[tuple[str, str, str]]:
    return [(one.action, one.actor, one.text) for one in row.events.order_by("pk")][1:]


@pytest.mark.django_db
def test_an_incident_is_acknowledged_assigned_resolved_and_reopened(
    row: Incident, people: People
) -> None:
    incident_acknowledge(row, act(people.owner, row, NOW))
    incident_acknowledge(row, act(people.owner, row, NOW + HOUR))
    row.refresh_from_db()
    assert (row.state, row.acknowledged_by, row.acknowledged_at) == ("ACKNOWLEDGED", "olga", NOW)
    incident_assign(row, act(people.owner, row, NOW), to=" ada ")
    incident_assign(row, act(people.owner, row, NOW), to="ada")
    row.refresh_from_db()
    assert (row.state, row.assignee, row.acknowledged_at) == ("OPEN", "ada", None)
    done = act(people.admin, row, NOW)
    incident_resolve(row, done, resolution=Resolution.FIXED, reason=" loaded again ")
    row.refresh_from_db()
    assert (row.state, row.is_open, row.due_at, row.resolution, row.reason, row.closed_by) == (
        *("RESOLVED", None, None, "fixed", "loaded again", "ada"),
    )
    incident_reopen(row, act(people.owner, row, NOW), reason="it was not")
    row.refresh_from_db()
    assert (row.state, row.is_open, row.assignee, row.reason) == ("OPEN", True, "ada", "")
    assert steps(row) == [
        ("acknowledged", "olga", ""),
        ("assigned", "olga", "to ada"),
        ("resolved", "ada", "loaded again"),
        ("reopened", "olga", "it was not"),
    ]
    actions = AuditEvent.objects.filter(action__startswith="incident.").order_by("seq")
    assert [one.action for one in actions][1:] == [f"incident.{one[0]}" for one in steps(row)]


@pytest.mark.django_db
def test_what_is_not_possible_is_refused(row: Incident, people: People) -> None:
    stale = Act(people.owner, row.version, NOW)
    for name in ("stan", "nobody", ""):
        with pytest.raises(RuleViolation) as refused:
            incident_assign(row, stale, to=name)
        assert refused.value.code == "incident.assignee"
    for reason in ("", "  ", "x" * 1001):
        with pytest.raises(RuleViolation) as refused:
            incident_resolve(row, stale, resolution=Resolution.FIXED, reason=reason)
        assert refused.value.code == "incident.reason"
    with pytest.raises(StaleState):
        incident_reopen(row, stale, reason="it is open")
    incident_acknowledge(row, stale)
    with pytest.raises(StaleState):
        incident_resolve(row, stale, resolution=Resolution.FIXED, reason="read before")
    incident_resolve(
        row, act(people.owner, row, NOW), resolution=Resolution.FIXED, reason="it is done"
    )
    with pytest.raises(StaleState):
        incident_acknowledge(row, act(people.owner, row, NOW))


@pytest.mark.django_db
def test_an_incident_is_not_reopened_beside_another_one_or_without_checks(
    row: Incident, checks: CheckSet, people: People
) -> None:
    incident_resolve(row, act(people.owner, row, NOW), resolution=Resolution.FIXED, reason="done")
    measured(checks, NOW + HOUR, (DAY, 4, 0))
    assert Incident.objects.filter(is_open=True).count() == 1
    with pytest.raises(RuleViolation) as refused:
        incident_reopen(row, act(people.owner, row, NOW), reason="once more")
    assert refused.value.code == "incident.rule"
    checks_delete(checks, version=0, user=people.owner, now=NOW)
    with pytest.raises(RuleViolation):
        incident_reopen(row, act(people.owner, row, NOW), reason="once more")


@pytest.mark.django_db(transaction=True)
def test_of_two_people_at_once_one_acts_and_the_other_is_told(
    row: Incident, people: People
) -> None:
    read = row.version

    def take(user: Any) -> Any:
        return lambda: incident_acknowledge(row, Act(user, read, NOW))

    def close(user: Any) -> Any:
        fixed = Resolution.FIXED
        return lambda: incident_resolve(row, Act(user, read, NOW), resolution=fixed, reason="done")

    assert sorted(together(take(people.owner), take(people.admin), close(people.operator))) == [
        *("", "incident.changed", "incident.changed"),
    ]
    row.refresh_from_db()
    assert row.version == read + 1
    assert len(steps(row)) == 1


@pytest.mark.django_db(transaction=True)
def test_measurements_and_people_at_once_leave_one_open_incident(
    row: Incident, checks: CheckSet, people: People
) -> None:
    read = Act(people.owner, row.version, NOW)
    results = together(
        lambda: measured(checks, NOW + HOUR, (DAY, 3, 0)),
        lambda: incident_resolve(row, read, resolution=Resolution.FIXED, reason="done"),
        lambda: incident_reopen(row, read, reason="no"),
    )
    assert results[0] == ""
    assert Incident.objects.filter(is_open=True).count() <= 1


@pytest.mark.django_db
def test_without_acknowledgement_it_goes_to_operators_and_then_to_admins(
    row: Incident, settings: Any
) -> None:
    settings.LAKEWARDEN_INCIDENT_HOURS = (8, 24, 72)
    assert incidents_escalate("main", now=NOW + 7 * HOUR) == 0
    assert incidents_escalate("main", now=NOW + 8 * HOUR) == 1
    assert incidents_escalate("main", now=NOW + 8 * HOUR) == 0
    row.refresh_from_db()
    assert (row.team, row.assignee) == ("operators", "")
    assert incidents_escalate("main", now=NOW + 32 * HOUR) == 1
    assert incidents_escalate("main", now=NOW + 1000 * HOUR) == 0
    row.refresh_from_db()
    assert (row.team, row.due_at) == ("admins", None)
    assert [one[2] for one in steps(row)] == [
        "Nobody acknowledged it: to the operators.",
        "Nobody acknowledged it: to the admins.",
    ]


@pytest.mark.django_db
def test_an_acknowledgement_ends_and_settings_of_zero_end_nothing(
    row: Incident, people: People, settings: Any
) -> None:
    incident_acknowledge(row, act(people.owner, row, NOW))
    assert incidents_escalate("main", now=NOW + 71 * HOUR) == 0
    assert incidents_escalate("main", now=NOW + 72 * HOUR) == 1
    row.refresh_from_db()
    assert (row.state, row.assignee) == ("OPEN", "olga")
    settings.LAKEWARDEN_INCIDENT_HOURS = (8, 24, 0)
    incident_acknowledge(row, act(people.owner, row, NOW))
    assert incidents_escalate("main", now=NOW + 9000 * HOUR) == 0


@pytest.mark.django_db
def test_old_incidents_are_deleted_with_their_history_and_open_ones_are_kept(
    row: Incident, people: People, settings: Any
) -> None:
    later = NOW + timedelta(days=settings.LAKEWARDEN_INCIDENT_DAYS, seconds=1)
    assert incidents_trim("main", now=later) == 0
    incident_resolve(row, act(people.owner, row, NOW), resolution=Resolution.FIXED, reason="done")
    assert incidents_trim("main", now=later - HOUR) == 0
    assert incidents_trim("main", now=later) == 1
    assert not IncidentWindow.objects.exists()
    assert not IncidentEvent.objects.exists()
