"""A Redis that is gone: pages work, requests are kept, and page, API, log and health say so.

The address is a real one at which nobody listens; nothing here is a stand-in but the broker's
return, which is a sender that takes the message (workers killed with a real Redis are in
tests/integration/portal/runs/test_worker_death.py).
"""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from portal.connectors.lake_config import LakeConfig
from portal.runs.models import Outbox, Run
from portal.runs.outbox.services import outbox_publish
from portal.runs.requests.selectors import run_events, run_waits
from tasks.celery import make_app
from tasks.relay import sender
from tests.component.conftest import People

NOBODY = "redis://127.0.0.1:1/0"
WORDS = "The message broker does not answer, so no worker has received this run."
BANNER = "New work waits: the message broker does not answer."


@pytest.fixture
def admin(people: People, lake: LakeConfig, settings: Any) -> Client:
    settings.LAKEWARDEN_REDIS_URL = NOBODY
    client = Client()
    client.force_login(people.admin)
    return client


def ask_for_a_scan(client: Client) -> Run:
    assert client.post("/lifecycle/scan/", {"reason": "look again"}).status_code == 302
    return Run.objects.get()


def relay_fails() -> None:
    outbox_publish(sender(make_app(NOBODY)), now=timezone.now())


def text_of(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_run_that_is_asked_for_waits_in_the_outbox_and_says_so(admin: Client) -> None:
    run = ask_for_a_scan(admin)
    assert WORDS not in text_of(admin, f"/runs/{run.pk}/")
    relay_fails()
    for address in (f"/runs/{run.pk}/", f"/runs/{run.pk}/progress/"):
        assert WORDS in text_of(admin, address)
    shown = admin.get(f"/api/v1/runs/{run.pk}/").json()
    assert (shown["state"], shown["waits"].startswith(WORDS)) == ("QUEUED", True)
    (line,) = shown["lines"]
    assert line["level"] == "warning"
    assert "does not take messages" in line["text"]
    assert "The run is kept and starts by itself" in line["text"]
    # It is said once, however often the relay tries.
    Outbox.objects.update(not_before=timezone.now() - timedelta(seconds=1))
    relay_fails()
    assert len(run_events(run)) == 1
    assert Outbox.objects.get().published_at is None


def test_every_page_tells_and_a_second_request_is_kept_too(admin: Client) -> None:
    assert BANNER not in text_of(admin, "/")
    ask_for_a_scan(admin)
    relay_fails()
    for address in ("/", "/lifecycle/expiring/", "/lifecycle/plans/"):
        assert BANNER in text_of(admin, address)
    told = admin.post("/lifecycle/scan/", {"reason": "again"}, follow=True).content.decode()
    assert "waits for the message broker" in told
    body = json.dumps({"reason": "over the API"})
    over = admin.post("/api/v1/lifecycle/scans/", body, content_type="application/json")
    assert (over.status_code, over.json()["state"]) == (200, "QUEUED")


def test_when_the_broker_is_back_the_run_starts_by_itself(admin: Client) -> None:
    run = ask_for_a_scan(admin)
    relay_fails()
    sent: list[str] = []
    later = timezone.now() + timedelta(seconds=30)
    assert outbox_publish(lambda row: sent.append(row.row_id), now=later).n_published == 1
    assert sent == [str(run.pk)]
    assert [line.text for line in run_events(run)][1:] == ["The message broker answers again."]
    assert run_waits(Run.objects.get(), now=later) == ""
    assert BANNER not in text_of(admin, "/")


def test_health_says_what_is_gone_and_what_it_means(admin: Client, people: People) -> None:
    ready = Client().get("/readyz").json()["checks"]["broker"]
    assert (ready["ok"], ready["detail"]) == (False, "Redis does not answer.")
    page = text_of(admin, "/health/")
    assert "Redis does not answer." in page
    assert "starts by itself when Redis is back" in page
    assert "Nobody supervises." in page
    assert "127.0.0.1" not in page
    parts = {part["name"]: part for part in admin.get("/api/v1/health/").json()}
    assert (parts["database"]["ok"], parts["database"]["means"]) == (True, "")
    assert parts["broker"]["means"].startswith("Pages and approvals work.")
    owner = Client()
    owner.force_login(people.owner)
    assert owner.get("/health/").status_code == 404
    assert owner.get("/api/v1/health/").status_code == 404


def test_a_run_says_when_nobody_supervises_or_no_worker_is_there(admin: Client) -> None:
    run, now = ask_for_a_scan(admin), timezone.now()
    assert run_waits(run, now=now) == ""
    assert "the supervisor is silent" in run_waits(run, now=now + timedelta(minutes=1))
    outbox_publish(lambda row: None, now=now)
    assert run_waits(run, now=now + timedelta(minutes=1)) == ""
    assert "No worker of the queue 'scan'" in run_waits(run, now=now + timedelta(minutes=3))
    Run.objects.update(state="RUNNING")
    assert run_waits(Run.objects.get(), now=now + timedelta(hours=1)) == ""
