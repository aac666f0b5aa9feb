"""Incidents are opened, extended and closed by what is measured."""

from datetime import timedelta

import pytest

from portal.access.models import OwnerMapping
from portal.audit.models import AuditEvent
from quality.checks.domain.messages import Measured
from quality.checks.services.declaring import checks_delete
from quality.checks.services.overrides import override_ask, override_confirm
from quality.checks.services.results import results_take, runs_failed
from quality.incidents.domain.states import Resolution
from quality.incidents.services.acting import incident_acknowledge, incident_resolve
from quality.incidents.services.opening import MOST_WINDOWS
from quality.models import CheckSet, Incident, IncidentWindow, RuleResult
from tests.component.conftest import People
from tests.component.quality.checks.checked import DOCUMENT, declare, wrote
from tests.component.quality.flag_lake import FlagLake
from tests.component.quality.incidents.failing import DAY, NEXT, NOW, act, measured, new_run

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.fixture
def checks(hive: FlagLake, people: People) -> CheckSet:
    """Checks of shop.notes: `enough` blocks, `no_nulls` raises an alarm."""
    return declare(people.owner, NOW)


def states() -> list[tuple[str, str]]:
    return list(Incident.objects.order_by("pk").values_list("rule", "state"))


def test_a_rule_has_one_incident_that_windows_join(checks: CheckSet) -> None:
    for n in range(3):
        measured(checks, NOW + n * HOUR, (DAY, 4, 0))
    measured(checks, NOW + 3 * HOUR, (DAY, 4, 0), (NEXT, 2, 0))
    row = Incident.objects.get()
    assert (row.rule, row.severity, row.state) == ("enough", "block", "OPEN")
    assert (row.assignee, row.team, row.owner) == ("olga", "owner", "olga")
    assert (row.n_windows, row.n_failures) == (2, 5)
    assert "row_count is 2, below the minimum of 5" in row.text
    assert {(one.window, one.value, one.low, one.n_failures) for one in row.windows.all()} == {
        (DAY, 4.0, 5.0, 4),
        (NEXT, 2.0, 5.0, 1),
    }
    assert [one.action for one in row.events.all()] == ["opened"]
    assert AuditEvent.objects.filter(action="incident.opened").count() == 1


def test_results_that_are_taken_in_again_change_nothing(checks: CheckSet) -> None:
    for _ in range(2):
        measured(checks, NOW, (DAY, 4, 3))
    assert states() == [("enough", "OPEN"), ("no_nulls", "OPEN")]
    assert {one.n_failures for one in Incident.objects.all()} == {1}


def test_notes_open_none_and_without_a_value_only_blocking_rules_do(
    hive: FlagLake, people: People
) -> None:
    text = DOCUMENT.replace("max: 0}", "max: 0, severity: note}")
    row = declare(people.owner, NOW, text)
    measured(row, NOW, (DAY, 9, 3))
    assert states() == []
    row = declare(people.owner, NOW, DOCUMENT, version=0)
    measured(row, NOW + HOUR, (DAY, 9, None), reason="column_gone")
    assert states() == [], "an alarm without an answer"
    blocking = DOCUMENT.replace("max: 0}", "max: 0, severity: block}")
    row = declare(people.owner, NOW, blocking, version=1)
    measured(row, NOW + 2 * HOUR, (DAY, 9, None), reason="column_gone")
    assert states() == [("no_nulls", "OPEN")]
    assert "has no value" in Incident.objects.get().text


def test_an_alarm_recovers_by_the_newest_window(checks: CheckSet) -> None:
    measured(checks, NOW, (DAY, 9, 3))
    measured(checks, NOW + HOUR, (DAY, 9, 3), (NEXT, 9, 0))
    row = Incident.objects.get()
    assert (row.state, row.closed_by, row.is_open) == ("RECOVERED", "checks", None)
    assert row.reason == f"The rule passed on the newest window, {NEXT}."
    measured(checks, NOW + 2 * HOUR, (DAY, 9, 3), (NEXT, 9, 0))
    assert states() == [("no_nulls", "RECOVERED")], "the old window is no news"
    measured(checks, NOW + 3 * HOUR, (DAY, 9, 7), (NEXT, 9, 0))
    assert [one.action for one in row.events.order_by("pk")] == ["opened", "recovered"], (
        "it would be over by the newest window at once"
    )
    measured(checks, NOW + 4 * HOUR, (DAY, 9, 7), (NEXT, 9, 1))
    row.refresh_from_db()
    assert (row.state, row.n_windows) == ("OPEN", 2)


def test_a_blocking_rule_recovers_when_every_window_passed_or_is_overridden(
    checks: CheckSet, people: People
) -> None:
    measured(checks, NOW, (DAY, 4, 0), (NEXT, 3, 0))
    measured(checks, NOW + HOUR, (DAY, 4, 0), (NEXT, 9, 0))
    assert states() == [("enough", "OPEN")], "a window still keeps its data from readers"
    result = RuleResult.objects.get(rule="enough", window=DAY)
    override_ask(result, reason="a quiet day", user=people.owner, now=NOW)
    override_confirm(result, user=people.admin, now=NOW)
    measured(checks, NOW + 2 * HOUR, (DAY, 4, 0), (NEXT, 9, 0))
    row = Incident.objects.get()
    assert row.state == "RECOVERED"
    assert row.reason == "Every window that failed has passed, or was overridden."
    kept = IncidentWindow.objects.get(window=DAY)
    assert (kept.is_failing, kept.outcome, kept.value) == (False, "failed", 4.0)


def test_what_recovers_and_fails_again_is_one_incident_for_a_day(checks: CheckSet) -> None:
    for n in range(4):
        measured(checks, NOW + n * HOUR, (DAY, 4 if n % 2 == 0 else 9, 0))
    row = Incident.objects.get()
    assert (row.state, row.n_failures, row.n_windows) == ("RECOVERED", 2, 1)
    assert row.events.filter(mail_at__isnull=False).count() == 1, "told once"
    measured(checks, NOW + 30 * HOUR, (DAY, 4, 0))
    assert states() == [("enough", "RECOVERED"), ("enough", "OPEN")]


@pytest.mark.parametrize(
    ("resolution", "n_incidents"),
    [(Resolution.FIXED, 2), (Resolution.EXPECTED, 1), (Resolution.RULE, 1)],
)
def test_after_a_person_resolved_it_only_what_was_called_fixed_opens_by_the_same_value(
    checks: CheckSet, people: People, resolution: Resolution, n_incidents: int
) -> None:
    measured(checks, NOW, (DAY, 4, 0))
    row = Incident.objects.get()
    at = act(people.owner, row, NOW + HOUR)
    incident_resolve(row, at, resolution=resolution, reason="looked at")
    measured(checks, NOW + 2 * HOUR, (DAY, 4, 0))
    assert Incident.objects.count() == n_incidents
    measured(checks, NOW + 3 * HOUR, (DAY, 4, 0), (NEXT, 1, 0))
    measured(checks, NOW + 4 * HOUR, (DAY, 4, 0), (NEXT, 1, 0))
    last = Incident.objects.get(is_open=True)
    windows = {one.window for one in last.windows.all()}
    assert windows == ({DAY, NEXT} if resolution is Resolution.FIXED else {NEXT})


def test_failures_leave_an_acknowledged_incident_acknowledged_unless_it_is_worse(
    checks: CheckSet, people: People
) -> None:
    measured(checks, NOW, (DAY, 9, 3))
    row = Incident.objects.get()
    incident_acknowledge(row, act(people.owner, row, NOW))
    measured(checks, NOW + HOUR, (DAY, 9, 4), (NEXT, 9, 1))
    row.refresh_from_db()
    assert (row.state, row.n_windows) == ("ACKNOWLEDGED", 2)
    blocking = DOCUMENT.replace("max: 0}", "max: 0, severity: block}")
    checks = declare(people.owner, NOW, blocking, version=0)
    measured(checks, NOW + 2 * HOUR, (NEXT, 9, 1))
    row.refresh_from_db()
    assert (row.state, row.severity, row.acknowledged_by) == ("OPEN", "block", "")


def test_a_table_that_cannot_be_measured_has_an_incident_if_a_rule_blocks(
    checks: CheckSet, people: People
) -> None:
    run = new_run(checks, NOW)
    wrote(run, Measured(checks.pk, "failed", NOW, note="The file is broken."))
    results_take(run)
    row = Incident.objects.get()
    assert (row.rule_words, row.severity, row.text) == (
        "Measurement",
        "block",
        "The file is broken.",
    )
    assert runs_failed(new_run(checks, NOW + HOUR), "It was lost.", now=NOW + HOUR) == 1
    row.refresh_from_db()
    assert (row.n_failures, row.text) == (2, "It was lost.")
    measured(checks, NOW + 2 * HOUR, (DAY, 9, 0))
    row.refresh_from_db()
    assert (row.state, row.reason) == ("RECOVERED", "The table was measured again.")
    alarms = declare(people.owner, NOW, DOCUMENT.replace(", severity: block", ""), version=0)
    runs_failed(new_run(alarms, NOW + 40 * HOUR), "It was lost.", now=NOW + 40 * HOUR)
    assert Incident.objects.count() == 1


def test_a_rule_that_is_deleted_or_a_note_has_no_incident_any_more(
    checks: CheckSet, people: People
) -> None:
    measured(checks, NOW, (DAY, 4, 3))
    declare(people.admin, NOW, DOCUMENT.replace("max: 0}", "max: 0, severity: note}"), version=0)
    found = Incident.objects.get(rule="no_nulls")
    assert (found.state, found.closed_by, found.resolution) == ("RESOLVED", "ada", "rule")
    checks.refresh_from_db()
    checks_delete(checks, version=1, user=people.owner, now=NOW + HOUR)
    rows = {one.rule: (one.state, one.check_set_id) for one in Incident.objects.all()}
    assert rows == {"no_nulls": ("RESOLVED", None), "enough": ("RESOLVED", None)}


@pytest.mark.parametrize(
    ("named", "got_it"),
    [
        ((), ("operators", "")),  # nobody of the owner's name is here
        (("dora",), ("owner", "dora")),
        (("dora", "stan"), ("owner", "")),
    ],
)
def test_who_gets_it_is_who_answers_for_the_owner(
    checks: CheckSet, named: tuple[str, ...], got_it: tuple[str, str]
) -> None:
    for name in named:
        OwnerMapping.objects.create(
            lake="main", owner="etl", username=name, added_by="ada", added_at=NOW
        )
    CheckSet.objects.update(owner="etl")
    measured(checks, NOW, (DAY, 4, 0))
    row = Incident.objects.get()
    assert (row.team, row.assignee) == got_it


def test_an_incident_follows_the_owner_of_its_table(checks: CheckSet) -> None:
    measured(checks, NOW, (DAY, 4, 0))
    CheckSet.objects.update(owner="dora")
    measured(checks, NOW + HOUR, (DAY, 4, 0))
    assert Incident.objects.get().owner == "dora"
    CheckSet.objects.update(owner="etl")
    runs_failed(new_run(checks, NOW + 2 * HOUR), "It was lost.", now=NOW + 2 * HOUR)
    assert {one.owner for one in Incident.objects.all()} == {"etl"}


def test_of_many_windows_the_last_are_kept_and_all_are_counted(checks: CheckSet) -> None:
    days = [f"2026-{month:02}-{day:02}" for month in range(1, 6) for day in range(1, 29)]
    measured(checks, NOW, *[(day, 1, 0) for day in days])
    row = Incident.objects.get()
    assert row.windows.count() == MOST_WINDOWS
    assert row.n_windows == len(days)
    assert min(one.window for one in row.windows.all()) == days[-MOST_WINDOWS]
