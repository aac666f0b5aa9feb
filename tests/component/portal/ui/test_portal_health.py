"""Tests /livez, /readyz and /metrics: they report the truth, errors without tracebacks."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from portal.access.scopes import METRICS_SCOPE
from portal.audit.models import AuditHead
from portal.people.token_rules import TokenParams
from portal.people.tokens import token_make
from portal.runs.models import Lease, Run
from tests.component.conftest import LAKE, People

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]


def test_ready_without_a_broker_but_the_work_is_said_to_stand_still(
    client: Client, settings: Any
) -> None:
    settings.LAKEWARDEN_REDIS_URL = "redis://127.0.0.1:1/0"
    assert client.get("/livez").content == b"ok\n"
    answer = client.get("/readyz")
    assert answer.status_code == 200
    body = answer.json()
    assert body["checks"]["database"]["ok"]
    assert not body["checks"]["broker"]["ok"]
    assert not body["checks"]["supervisor"]["ok"]
    assert body["checks"]["lakes"] == {**body["checks"]["lakes"], "ok": True, "detail": LAKE}
    assert body["work"] is False


@pytest.mark.parametrize(("seconds", "is_ok"), [(10, True), (-5, True), (-300, False)])
def test_a_silent_supervisor_is_noticed(client: Client, seconds: int, *, is_ok: bool) -> None:
    until = timezone.now() + timedelta(seconds=seconds)
    Lease.objects.create(name="supervise", holder="host", until=until)
    # Other programs lead on; they do none of its work.
    for name in ("refresh:bi", "cdc:shop", "supervise@host"):
        Lease.objects.create(name=name, holder="host", until=timezone.now() + timedelta(minutes=1))
    assert client.get("/readyz").json()["checks"]["supervisor"]["ok"] is is_ok


def test_metrics_are_readable_by_prometheus(client: Client) -> None:
    Run.objects.create(
        lake=LAKE, kind='a"b', queue="scan", requested_by="x", queued_at=timezone.now()
    )
    text = client.get("/metrics").content.decode()
    assert 'lakewarden_runs{lake="main",queue="scan",state="QUEUED"} 1' in text
    assert 'lakewarden_red_button{lake="main"} 0' in text
    for line in text.splitlines():
        assert line.startswith("# ") or line.rsplit(" ", 1)[1].replace(".", "").lstrip("-")


def test_a_large_number_keeps_its_digits(client: Client) -> None:
    AuditHead.objects.update_or_create(pk=1, defaults={"seq": 1_234_567})
    assert "lakewarden_audit_events 1234567\n" in client.get("/metrics").content.decode()


ELSEWHERE = [
    {"REMOTE_ADDR": "10.0.0.9"},
    {"REMOTE_ADDR": "127.0.0.1", "headers": {"X-Forwarded-For": "10.0.0.9"}},
    {"REMOTE_ADDR": "::1", "headers": {"Forwarded": "for=10.0.0.9"}},
    {"REMOTE_ADDR": ""},
]


@pytest.mark.parametrize("elsewhere", ELSEWHERE)
def test_strangers_learn_whether_it_is_ready_and_no_more(elsewhere: Any) -> None:
    Lease.objects.create(name="supervise", holder="host-7:4711", until=timezone.now())
    stranger = Client(**elsewhere)
    body = stranger.get("/readyz").json()
    assert body["ready"] is True
    assert body["checks"]["lakes"] == {"ok": True}
    assert "4711" not in str(body)
    assert stranger.get("/metrics").status_code == 401


def test_metrics_are_for_monitors_admins_and_operators(people: People) -> None:
    outside = {"REMOTE_ADDR": "10.0.0.9"}
    for user, status in ((people.operator, 200), (people.admin, 200), (people.owner, 403)):
        client = Client(**outside)  # type: ignore[arg-type]  # the stubs know no address
        client.force_login(user)
        assert client.get("/metrics").status_code == status
    for scope, status in ((METRICS_SCOPE, 200), ("refresh", 403)):
        wish = TokenParams("prometheus", (scope,), 9)
        operator = people.operator
        _, secret = token_make(operator.username, wish, user=operator, now=timezone.now())
        accept = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.3"
        sent = {"Authorization": f"Bearer {secret}", "Accept": accept}
        answer = Client(headers=sent).get("/metrics", REMOTE_ADDR="10.0.0.9")
        assert answer.status_code == status, scope
    assert Client().post("/metrics").status_code == 405


def test_an_address_behind_which_nothing_stands(people: People) -> None:
    client = Client()
    client.force_login(people.owner)
    answer = client.get("/nothing/here")
    assert answer.status_code == 404
    assert "page.missing" in answer.content.decode()
    api = client.get("/api/v1/nothing/")
    assert (api.status_code, api.json()["code"]) == (404, "page.missing")


def test_our_own_mistake_gives_an_id_and_no_traceback(
    people: People, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.ROOT_URLCONF = "tests.support.broken_urls"
    client = Client(raise_request_exception=False)
    client.force_login(people.owner)
    answer = client.get("/broken/")
    text = answer.content.decode()
    assert answer.status_code == 500
    assert "secret detail" not in text
    assert "Traceback" not in text
    (mark,) = [
        r.args[0]
        for r in caplog.records
        if r.name == "lakewarden.errors" and isinstance(r.args, tuple)
    ]
    assert str(mark) in text


def test_a_database_that_broke_off_is_said_so_and_nothing_more(
    people: People, settings: Any
) -> None:
    settings.ROOT_URLCONF = "tests.support.broken_urls"
    client = Client(raise_request_exception=False)
    client.force_login(people.owner)
    page, api = client.get("/lost/"), client.get("/api/lost/")
    assert (page.status_code, api.status_code) == (503, 503)
    assert "The portal&#x27;s database did not answer" in page.content.decode()
    assert api.json()["code"] == "portal.database"
    assert "was not done" in api.json()["next_step"]
    assert b"secret detail" not in page.content + api.content


def test_the_schema_and_the_api_page_list_every_operation(people: People) -> None:
    client = Client()
    client.force_login(people.owner)
    schema = client.get(reverse("ui:schema") + "?format=json").json()
    page = client.get(reverse("ui:api")).content.decode()
    assert "/api/v1/runs/" in schema["paths"]
    assert all(path in page for path in schema["paths"])
    assert client.get(reverse("ui:api-explorer")).status_code == 200
