"""What is typed and refused comes back with its values.

Odd signs, a stale log-in, a bad request.
"""

import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from lifecycle.backup.models import Hold
from lifecycle.models import DatabaseFinding, DatabaseSetting, DropPlan, PolicyRequest, TableFinding
from portal.access.models import User
from portal.audit.models import AuditEvent
from portal.safety.selectors import emergency_stop_state
from portal.safety.services import emergency_stop_on_danger
from tests.component.lifecycle.plan_world import LAKE, NOW, PASSWORD, World, make_world, partitions
from tests.support.clock import start_clock

pytestmark = pytest.mark.django_db(transaction=True)
NUL = "a typed\x00reason"


@pytest.fixture
def world(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> World:
    start_clock(monkeypatch, NOW)
    settings.LAKEWARDEN_LAKES = tmp_path / "lakes.json"
    world = make_world(tmp_path)
    world.scan(partitions(2))
    DatabaseFinding.objects.get_or_create(
        generation=TableFinding.objects.latest("pk").generation, lake=LAKE, db="sales"
    )
    return world


def signed_in(user: User, *, fresh: bool = True) -> Client:
    client = Client()
    client.force_login(user)
    if fresh:
        session = client.session
        session["lw_authenticated_at"] = timezone.now().timestamp()
        session.save()
    return client


def hold(world: World) -> Hold:
    return Hold.objects.create(
        lake=LAKE, db="sales", kind="LEGAL", reason="a case", placed_by="anna", placed_at=NOW
    )


Post = Callable[[World], tuple[str, dict[str, str]]]
ACTS: dict[str, Post] = {
    "plan": lambda _: ("/lifecycle/plans/new/", {"databases": "sales"}),
    "hold release": lambda world: (f"/lifecycle/holds/{hold(world).public_id}/release/", {}),
    "hold": lambda _: ("/lifecycle/holds/place/", {"db": "sales"}),
    "mode": lambda _: (
        "/lifecycle/databases/sales/mode/",
        {"seen": "ACT", "wanted": "OBSERVE"},
    ),
    "emergency stop": lambda _: ("/red-button/", {"do": "press"}),
    "approval": lambda world: _approval(world.plan()),
    "close a person": lambda _: ("/people/otto/close/", {}),
}


def _approval(plan: DropPlan) -> tuple[str, dict[str, str]]:
    return f"/lifecycle/plans/{plan.pk}/reject/", {"digest": plan.digest}


@pytest.mark.parametrize("sign", ["\x00", "\x1b"])
@pytest.mark.parametrize("act", ACTS)
def test_no_page_takes_a_control_character(world: World, act: str, sign: str) -> None:
    url, body = ACTS[act](world)
    n_events = AuditEvent.objects.count()
    answer = signed_in(world.person("bert")).post(url, {**body, "reason": f"a typed{sign}reason"})
    text = unescape(answer.content.decode())
    assert answer.status_code == 400
    assert "control character" in text or "Null characters" in text
    assert re.search(r"a typed.reason\s*</textarea>|value=\"a typed.reason\"", text)
    assert AuditEvent.objects.count() == n_events
    # What came back can be sent.
    if 'id="sent-form"' in text:
        form = _form(text)
        assert form["action"] == url
        sent = signed_in(world.person("bert")).post(url, {**form["fields"], "reason": "a reason"})
        assert sent.status_code == 302
        assert AuditEvent.objects.count() > n_events


def _form(text: str) -> dict[str, Any]:
    html = text[text.index('id="sent-form"') - 200 :]
    html = html[: html.index("</form>")]
    action = re.findall(r'action="([^"]*)" id="sent-form"', html)[0]
    pairs = re.findall(r'type="hidden" name="([^"]*)" value="([^"]*)"', html)
    reason = re.findall(r"<textarea[^>]*>\n(.*?)</textarea>", html, re.DOTALL)
    return {"action": action, "fields": dict(pairs), "reason": (reason or [None])[0]}


def test_a_command_and_the_api_refuse_it_too(world: World) -> None:
    client = signed_in(world.person("anna"))
    body = {"databases": ["sales"], "tables": [], "reason": "old\x1b[2Jlogs"}
    answer = client.post("/api/v1/lifecycle/plans/", body, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (400, "text.control")
    assert not DropPlan.objects.exists()


def test_danger_presses_the_button_whatever_its_words_hold(world: World) -> None:
    emergency_stop_on_danger(LAKE, run_id="1", reason="/data/a\x00b is gone", now=NOW)
    press = emergency_stop_state(LAKE)
    assert press is not None
    assert press.reason == "Run 1: /data/a\ufffdb is gone"


def test_what_was_typed_outlives_the_password(world: World) -> None:
    plan, client = world.plan(), signed_in(world.person("bert"), fresh=False)
    url, back = f"/lifecycle/plans/{plan.pk}/reject/", f"/lifecycle/plans/{plan.pk}/"
    body = {"digest": plan.digest, "reason": 'still <b>"needed"</b>\nsays Olga'}
    typed = {**body, "db_password": "hidden"}
    asked = client.post(url, typed, headers={"referer": f"http://testserver{back}"})
    door = client.get(asked["Location"]).content.decode()
    assert "Nothing was done yet" in door
    assert "<b>" not in door
    answer = client.post(asked["Location"], {"password": PASSWORD, "next": back})
    page = client.get(answer["Location"]).content.decode()
    assert "Not done yet: send it again" in page
    assert f'href="{back}"' in page
    form = _form(unescape(page))
    assert (form["action"], form["fields"]["digest"]) == (url, plan.digest)
    assert "hidden" not in json.dumps(client.session["lw_sent"])
    assert form["reason"] == body["reason"]
    assert DropPlan.objects.get().state == "PENDING"
    sent = client.post(url, {**form["fields"], "reason": form["reason"]})
    assert sent["Location"] == back
    assert DropPlan.objects.get().state == "REJECTED"
    # It was sent, so it is shown no more.
    assert "Confirm your password" in client.get(answer["Location"]).content.decode()


def test_another_person_never_sees_the_kept_form(world: World) -> None:
    plan, client = world.plan(), signed_in(world.person("bert"), fresh=False)
    client.post(f"/lifecycle/plans/{plan.pk}/reject/", {"reason": "a secret"})
    client.post("/logout/")
    client.force_login(world.person("anna"))
    session = client.session
    session["lw_authenticated_at"] = timezone.now().timestamp()
    session.save()
    assert "a secret" not in client.get("/login/again/").content.decode()


@pytest.mark.parametrize(
    ("body", "typed", "said"),
    [
        ({"kind": "SET", "level": "1", "ttl": "45", "reason": "   "}, "45", "Enter a reason"),
        ({"kind": "SET", "level": "1", "ttl": "45 days", "reason": "why"}, "45 days", "whole"),
        ({"kind": "SET", "level": "1", "ttl": "", "reason": "no ttl"}, "no ttl", "TTL"),
        ({"kind": "SET", "level": "1", "ttl": "45", "reason": NUL}, "45", "Null characters"),
        ({"kind": "SET", "level": "1", "ttl": "9", "reason": "a\x1bb"}, "9", "control character"),
        ({"kind": "EXTEND", "days": "7", "until": "nonsense", "reason": "x"}, "nonsense", "date"),
        ({"kind": "HAND_OVER", "owner": "olga", "reason": " "}, "olga", "Enter a reason"),
        ({"kind": "WAIVE", "rule": "X", "until": "2026-12-01", "reason": "x"}, "2026-12-01", "X"),
    ],
)
def test_a_wrong_wish_is_shown_again(
    world: World, body: dict[str, str], typed: str, said: str
) -> None:
    answer = signed_in(world.person("bert")).post(
        "/lifecycle/policy-requests/new/",
        {"db": "sales", "table": "orders", "seen_level": "1", "seen_ttl": "30", **body},
        headers={"referer": "http://testserver/lifecycle/policy/sales/orders/"},
    )
    text = unescape(answer.content.decode())
    assert answer.status_code == 400
    assert f'name="kind" value="{body["kind"]}"' in text
    assert 'value="sales"' in text
    assert f'value="{typed}"' in text or f"{typed}</textarea>" in text
    assert said in text[text.index("Send it again") - 6_000 :]
    assert 'role="alert"' in text
    assert "/lifecycle/policy/sales/orders/" in text
    assert not PolicyRequest.objects.exists()
    assert DatabaseSetting.objects.get().mode == "ACT"
