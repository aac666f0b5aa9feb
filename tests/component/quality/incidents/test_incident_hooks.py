"""Steps are posted to a real HTTP server of an allow-list, signed, again until it answers."""

import hashlib
import hmac
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from portal.notices.callbacks import MOST_TRIES
from quality.incidents.services import hooks
from quality.incidents.services.acting import incident_acknowledge
from quality.incidents.services.hooks import incidents_post
from quality.models import CheckSet, Incident, IncidentEvent
from tests.component.conftest import People
from tests.component.quality.checks.checked import declare
from tests.component.quality.flag_lake import FlagLake
from tests.component.quality.incidents.failing import DAY, NOW, act, measured
from tests.support.called import Called, called, here

HOUR = timedelta(hours=1)
SECRET = "both know it"
pytestmark = pytest.mark.django_db


@pytest.fixture
def pager(settings: Any) -> Iterator[Called]:
    """A program that the settings name, allow and share a secret with."""
    with called(settings) as made:
        settings.LAKEWARDEN_INCIDENT_WEBHOOK_URL = made.url
        settings.LAKEWARDEN_CALLBACK_SECRET = SECRET
        yield made


@pytest.fixture
def checks(hive: FlagLake, people: People) -> CheckSet:
    return declare(people.owner, NOW)


def test_steps_are_posted_once_and_signed_without_values(
    pager: Called, checks: CheckSet, people: People
) -> None:
    measured(checks, NOW, (DAY, 4, 0))
    row = Incident.objects.get()
    incident_acknowledge(row, act(people.owner, row, NOW))
    assert incidents_post("main", now=NOW, resolver=here) == 2
    assert incidents_post("main", now=NOW + HOUR, resolver=here) == 0
    (body,) = pager.told
    first, second = body["events"]
    assert (body["lake"], first["action"], second["action"]) == ("main", "opened", "acknowledged")
    assert (second["by"], second["state"], second["assignee"]) == ("olga", "ACKNOWLEDGED", "olga")
    assert (first["rule"], first["table"], first["severity"]) == ("enough", "shop.notes", "block")
    assert first["url"].endswith(f"/readiness/incidents/{row.pk}/")
    assert b"row_count" not in pager.bodies[0], "what failed is read on the page"
    mac = hmac.new(SECRET.encode(), pager.bodies[0], hashlib.sha256).hexdigest()
    assert pager.signatures == [f"sha256={mac}"]


def test_a_server_that_fails_is_told_again_until_it_is_hopeless(
    pager: Called, checks: CheckSet
) -> None:
    pager.status = 503
    measured(checks, NOW, (DAY, 4, 0))
    later = NOW
    for _ in range(MOST_TRIES + 2):
        incidents_post("main", now=later, resolver=here)
        later += timedelta(days=1)
    event = IncidentEvent.objects.get()
    assert len(pager.told) == MOST_TRIES
    assert (event.hook_at, event.hook_sent_at, event.hook_tries) == (None, None, MOST_TRIES)
    assert "503" in event.hook_problem


def test_an_address_in_a_file_is_read_for_each_post(
    pager: Called, checks: CheckSet, settings: Any, tmp_path: Path
) -> None:
    file = tmp_path / "address"
    settings.LAKEWARDEN_INCIDENT_WEBHOOK_URL = ""
    settings.LAKEWARDEN_INCIDENT_WEBHOOK_URL_FILE = str(file)
    measured(checks, NOW, (DAY, 4, 0))
    assert incidents_post("main", now=NOW, resolver=here) == 0
    event = IncidentEvent.objects.get()
    assert "LAKEWARDEN_INCIDENT_WEBHOOK_URL_FILE names cannot be read" in event.hook_problem
    file.write_text(f"{pager.url}\n", encoding="utf-8")
    assert incidents_post("main", now=NOW + HOUR, resolver=here) == 1
    assert len(pager.told) == 1


def test_a_server_that_comes_back_is_told_all(pager: Called, checks: CheckSet) -> None:
    pager.status = 503
    measured(checks, NOW, (DAY, 4, 0))
    incidents_post("main", now=NOW, resolver=here)
    measured(checks, NOW + HOUR, (DAY, 9, 0))
    pager.status = 204
    assert incidents_post("main", now=NOW + HOUR, resolver=here) == 2
    assert [one["action"] for one in pager.told[-1]["events"]] == ["opened", "recovered"]
    assert set(IncidentEvent.objects.values_list("hook_problem", flat=True)) == {""}


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("LAKEWARDEN_CALLBACK_HOSTS", (), "LAKEWARDEN_CALLBACK_HOSTS"),
        ("LAKEWARDEN_WEBHOOK_NETWORKS", (), "127.0.0.1"),
        ("LAKEWARDEN_WEBHOOK_PLAIN", False, "https"),
    ],
)
def test_what_the_settings_do_not_allow_is_not_called(
    pager: Called, checks: CheckSet, settings: Any, setting: str, value: object, said: str
) -> None:
    setattr(settings, setting, value)
    measured(checks, NOW, (DAY, 4, 0))
    incidents_post("main", now=NOW, resolver=here)
    event = IncidentEvent.objects.get()
    assert pager.told == []
    assert event.hook_at is None
    assert said in event.hook_problem


def test_many_steps_go_in_bodies_of_a_hundred(pager: Called, checks: CheckSet) -> None:
    measured(checks, NOW, (DAY, 4, 0))
    row = Incident.objects.get()
    IncidentEvent.objects.bulk_create(
        IncidentEvent(incident=row, lake="main", at=NOW, actor="x", action="lapsed", hook_at=NOW)
        for _ in range(hooks.MOST_AT_ONCE)
    )
    while incidents_post("main", now=NOW, resolver=here):
        pass
    assert [len(one["events"]) for one in pager.told] == [100, 1]


def test_without_an_address_nothing_waits(checks: CheckSet, settings: Any) -> None:
    measured(checks, NOW, (DAY, 4, 0))
    assert IncidentEvent.objects.get().hook_at is None
    IncidentEvent.objects.update(hook_at=NOW)
    assert incidents_post("main", now=NOW, resolver=here) == 0
    assert IncidentEvent.objects.get().hook_at is None


def test_what_a_dead_sender_claimed_is_sent_after_five_minutes(
    pager: Called, checks: CheckSet
) -> None:
    measured(checks, NOW, (DAY, 4, 0))
    IncidentEvent.objects.update(hook_at=NOW + timedelta(minutes=5), hook_tries=1)
    assert incidents_post("main", now=NOW + timedelta(minutes=4), resolver=here) == 0
    assert incidents_post("main", now=NOW + timedelta(minutes=5), resolver=here) == 1
