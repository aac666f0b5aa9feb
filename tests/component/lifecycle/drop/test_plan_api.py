"""The API of plans gives the pages' answers: same rights, same refusals, same transitions."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from lifecycle.drop.services.store import plan_parts_write
from lifecycle.models import DropPlan
from tests.component.lifecycle.plan_world import NOW, World, make_world, partitions
from tests.support.clock import start_clock

pytestmark = pytest.mark.django_db(transaction=True)
BASE = "/api/v1/lifecycle"


@pytest.fixture
def world(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> World:
    start_clock(monkeypatch, NOW)
    settings.LAKEWARDEN_LAKES = tmp_path / "lakes.json"
    world = make_world(tmp_path)
    world.scan(partitions(3))
    return world


class Api:
    """One person's session, just signed in or long ago."""

    def __init__(self, world: World, name: str, *, fresh: bool = True) -> None:
        self.client = Client(enforce_csrf_checks=False)
        self.client.force_login(world.person(name))
        if fresh:
            session = self.client.session
            session["lw_authenticated_at"] = timezone.now().timestamp()
            session.save()

    def get(self, path: str) -> tuple[int, Any]:
        response = self.client.get(BASE + path)
        return response.status_code, response.json()

    def post(self, path: str, **body: Any) -> tuple[int, Any]:
        response = self.client.post(BASE + path, json.dumps(body), content_type="application/json")
        return response.status_code, response.json() if response.content else None


def test_a_plan_lives_through_the_api(world: World) -> None:
    anna, bert, carl = (Api(world, name) for name in ("anna", "bert", "carl"))
    status, made = anna.post("/plans/", tables=["sales.orders"], reason="old")
    assert (status, made["state"], made["transitions"]) == (201, "DRAFTING", ["withdraw"])
    world.drawn(DropPlan.objects.get(pk=made["id"]))
    url = f"/plans/{made['id']}/"
    seen = bert.get(url)[1]
    assert seen["loss"]["n_items"] == 3
    assert seen["transitions"] == ["approve", "reject"]
    assert anna.get(url)[1]["transitions"] == ["withdraw"]
    assert Api(world, "alice").get(url)[1]["transitions"] == []
    assert bert.post(url + "approve/", digest=seen["digest"])[1]["state"] == "PENDING"
    assert carl.post(url + "approve/", digest=seen["digest"])[1]["state"] == "APPROVED"
    after = bert.get(url)[1]
    assert [one["user"] for one in after["decisions"]] == ["bert", "carl"]
    assert after["transitions"] == ["reject"]
    tables = bert.get(url + "tables/")[1]["results"]
    assert [(row["db"], row["table"], row["n_items"]) for row in tables] == [("sales", "orders", 3)]
    assert bert.get("/plans/?state=APPROVED")[1]["results"][0]["n_bytes"] == 3000
    assert bert.get("/plans/?state=DONE")[1]["results"] == []
    assert bert.get(url + "results/")[1]["results"] == []


def test_refusals_have_a_code_a_message_and_a_next_step(world: World) -> None:
    plan = world.plan()
    url = f"/plans/{plan.pk}/"
    cases = [
        ("anna", "approve/", {"digest": plan.digest}, 403, "approval.own"),
        ("alice", "approve/", {"digest": plan.digest}, 403, "approval.role"),
        ("otto", "approve/", {"digest": plan.digest}, 403, "approval.role"),
        ("eve", "approve/", {"digest": plan.digest}, 404, "plan.missing"),
        ("bert", "approve/", {"digest": "0" * 64}, 409, "plan.changed"),
        ("bert", "withdraw/", {"reason": "mine"}, 403, "approval.withdraw"),
    ]
    for name, step, body, status, code in cases:
        got, answer = Api(world, name).post(url + step, **body)
        assert (got, answer["code"]) == (status, code), (name, step)
        assert answer["message"]
        assert answer["next_step"]
    stale = Api(world, "bert", fresh=False).post(url + "approve/", digest=plan.digest)
    assert (stale[0], stale[1]["code"]) == (403, "approval.fresh_login")
    assert Api(world, "bert").post(url + "reject/", digest=plan.digest)[0] == 400
    done = Api(world, "bert").post(url + "reject/", digest=plan.digest, reason="still needed")
    assert (done[0], done[1]["state"]) == (200, "REJECTED")
    again = Api(world, "carl").post(url + "approve/", digest=plan.digest)
    assert (again[0], again[1]["code"]) == (409, "plan.not_pending")


def test_a_big_plan_needs_its_name_typed_over_the_api_too(world: World) -> None:
    plan = world.plan()
    url, bert = f"/plans/{plan.pk}/", Api(world, "bert")
    assert bert.get(url)[1]["typed"] == ""
    plan.tables.update(n_bytes=2 * 1024**4)
    plan_parts_write(plan)
    assert bert.get(url)[1]["typed"] == "sales.orders"
    for typed in ({}, {"typed": ""}, {"typed": "sales"}):
        status, answer = bert.post(url + "approve/", digest=plan.digest, **typed)
        assert (status, answer["code"]) == (400, "plan.typed")
        assert "Type sales.orders exactly" in answer["message"]
    assert bert.post(url + "approve/", digest=plan.digest, typed="sales.orders")[0] == 200
    schema = bert.client.get("/api/v1/schema/?format=json").json()["components"]["schemas"]
    assert "needed where" in schema["Approve"]["properties"]["typed"]["description"]
    assert "typed" in schema["PlanDetail"]["properties"]


def test_an_empty_plan_says_what_happened(world: World) -> None:
    world.scan(partitions(2, cls="NOT_NOW"))
    plan = world.plan()
    seen = Api(world, "anna").get(f"/plans/{plan.pk}/")[1]
    assert (seen["state"], seen["loss"]["n_items"]) == ("NOT_CREATED", 0)
    assert seen["ended_reason"].startswith("Nothing of what was chosen may be dropped now.")
    assert seen["left_out"] == {"NOT_DUE": 2}
    text = Api(world, "anna").client.get(f"/lifecycle/plans/{plan.pk}/").content.decode()
    assert "This plan holds nothing" in text
    assert "Nothing of what was chosen may be dropped now." in text
    assert "Data to be removed" not in text
    assert "lw-stat-bad" not in text


def test_someone_elses_and_unknown_ids_are_not_found(world: World) -> None:
    plan = world.plan()
    eve, anna = Api(world, "eve"), Api(world, "anna")
    for step in ("", "tables/", "results/"):
        assert eve.get(f"/plans/{plan.pk}/{step}")[0] == 404
        assert anna.get(f"/plans/{uuid4()}/{step}")[0] == 404
    assert eve.get("/plans/")[1]["results"] == []
    assert Client().get(f"{BASE}/plans/").status_code == 403


def test_only_makers_make_and_state_cannot_be_posted(world: World) -> None:
    assert Api(world, "alice").post("/plans/", tables=["sales.orders"], reason="x")[0] == 403
    anna = Api(world, "anna")
    assert anna.post("/plans/", reason="x")[1]["code"] == "plan.empty_choice"
    assert anna.post("/plans/", tables=["sales.orders"])[0] == 400
    made = anna.post("/plans/", tables=["sales.orders"], reason="x", state="DONE", digest="d")[1]
    assert (made["state"], made["digest"]) == ("DRAFTING", "")


def test_wishes_over_the_api(world: World) -> None:
    alice = Api(world, "alice")
    status, wish = alice.post("/wishes/", db="sales", table="orders", reason="not needed")
    assert (status, wish["state"]) == (201, "OPEN")
    assert alice.post("/wishes/", db="sales", table="orders", reason="again")[1]["id"] == wish["id"]
    assert len(Api(world, "anna").get("/wishes/")[1]["results"]) == 1
    assert Api(world, "eve").get("/wishes/")[1]["results"] == []
    assert Api(world, "eve").post(f"/wishes/{wish['id']}/close/", reason="x")[0] == 404
    assert alice.post(f"/wishes/{wish['id']}/close/", reason="x")[0] == 204
    assert alice.post(f"/wishes/{wish['id']}/close/", reason="x")[0] == 409
