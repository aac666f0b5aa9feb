"""The API of findings: the same rows, rights and filters as the pages; described in the schema."""

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from django.test import Client
from drf_spectacular.generators import SchemaGenerator

from lifecycle.models import DatabaseSetting
from portal.access.models import User
from portal.connectors.lake_config import LakeConfig
from portal.runs.models import Run
from tests.component.conftest import People
from tests.component.lifecycle.scanned import scan

pytestmark = pytest.mark.django_db
BASE = "/api/v1/lifecycle"
LISTS = ("paths", "tables", "databases")


@pytest.fixture
def as_(people: People) -> Callable[[User], Client]:
    """Return a client that is signed in as somebody."""

    def sign_in(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return sign_in


def results(response: Any) -> list[dict[str, Any]]:
    assert response.status_code == 200, response.content
    return list(response.json()["results"])


def send(client: Client, path: str, body: dict[str, Any]) -> int:
    return client.post(
        f"{BASE}{path}", json.dumps(body), content_type="application/json"
    ).status_code


def test_lists_are_empty_before_a_scan_and_closed_without_a_login(
    lake: LakeConfig, people: People, as_: Callable[[User], Client]
) -> None:
    for name in LISTS:
        assert Client().get(f"{BASE}/{name}/").status_code == 403
        assert results(as_(people.admin).get(f"{BASE}/{name}/")) == []
    assert as_(people.admin).get(f"{BASE}/picture/").status_code == 404


def test_each_person_gets_what_they_answer_for(
    lake: LakeConfig, people: People, now: datetime, as_: Callable[[User], Client]
) -> None:
    scan(lake, now=now)
    owner, admin, stranger = (as_(u) for u in (people.owner, people.admin, people.stranger))
    assert [row["table"] for row in results(owner.get(f"{BASE}/tables/"))] == ["orders"]
    assert len(results(admin.get(f"{BASE}/tables/"))) == 3
    assert results(stranger.get(f"{BASE}/tables/")) == []
    for path in ("", "items/", "why/?partition=dt%3D2026-08-01"):
        url = f"{BASE}/tables/sales/orders/{path}"
        assert owner.get(url).status_code == 200
        answer = stranger.get(url)
        assert (answer.status_code, answer.json()["code"]) == (404, "table.missing")
    assert owner.get(f"{BASE}/picture/").status_code == 403
    assert admin.get(f"{BASE}/picture/").json()["totals"]["n_tables"] == 3


def test_filters_and_pages_are_those_of_the_pages(
    lake: LakeConfig, people: People, now: datetime, as_: Callable[[User], Client]
) -> None:
    scan(lake, now=now)
    client = as_(people.admin)
    assert [row["db"] for row in results(client.get(f"{BASE}/paths/?reason=HAS_OTHER_DB"))] == [
        "web"
    ]
    assert client.get(f"{BASE}/paths/?reason=NONSENSE").status_code == 400

    first = client.get(f"{BASE}/tables/?sort=name&size=2").json()
    assert [row["table"] for row in first["results"]] == ["orders", "stray"]
    second = client.get(first["next"]).json()
    assert [row["table"] for row in second["results"]] == ["logs"]
    assert second["next"] is None

    (item,) = results(client.get(f"{BASE}/tables/sales/orders/items/?cls=SOON"))
    assert (item["partition"], item["winner"]) == ("dt=2026-09-24", "DDL")
    why = client.get(f"{BASE}/tables/sales/orders/why/?partition=dt%3D2026-08-01").json()
    assert why["item"]["cls"] == "CLEAN_NOW"
    assert "No notice has announced it yet." in why["stops"]


def test_modes_and_scans_obey_the_same_rights(
    lake: LakeConfig, people: People, now: datetime, as_: Callable[[User], Client]
) -> None:
    scan(lake, now=now)
    change = {"seen": "OBSERVE", "wanted": "NOTIFY", "reason": "looked at"}
    path = "/databases/sales/mode/"
    assert send(as_(people.stranger), path, change) == 404
    assert send(as_(people.operator), path, change) == 403
    assert send(as_(people.admin), path, change | {"reason": ""}) == 400
    assert send(as_(people.admin), path, change) == 200
    assert send(as_(people.admin), path, change) == 409
    assert DatabaseSetting.objects.get(db="sales").mode == "NOTIFY"

    assert send(as_(people.owner), "/scans/", {}) == 403
    assert send(as_(people.operator), "/scans/", {"reason": "look"}) == 200
    assert Run.objects.filter(kind="lifecycle.scan", requested_by="otto").count() == 1
    shadow = as_(people.admin).get(f"{BASE}/databases/web/shadow/").json()
    assert [row["n_due"] for row in shadow] == [1]


def test_holds_are_read_placed_and_ended(
    lake: LakeConfig, people: People, now: datetime, as_: Callable[[User], Client]
) -> None:
    scan(lake, now=now)
    wish = {"db": "sales", "table": "orders", "reason": "case 9"}
    assert send(as_(people.owner), "/holds/", wish) == 403
    assert send(as_(people.stranger), "/holds/", wish) == 404
    assert send(as_(people.admin), "/holds/", wish | {"partition": "dt=none"}) == 404
    assert send(as_(people.admin), "/holds/", wish) == 201
    (hold,) = results(as_(people.owner).get(f"{BASE}/holds/"))
    assert (hold["table"], hold["reason"]) == ("orders", "case 9")
    assert results(as_(people.stranger).get(f"{BASE}/holds/")) == []

    path = f"/holds/{hold['id']}/release/"
    assert send(as_(people.stranger), path, {"reason": "no"}) == 404
    assert send(as_(people.owner), path, {"reason": "no"}) == 403
    assert send(as_(people.admin), path, {"reason": "closed"}) == 200
    assert results(as_(people.admin).get(f"{BASE}/holds/")) == []


def test_an_unsafe_call_without_a_token_is_refused(
    lake: LakeConfig, people: People, now: datetime
) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(people.admin)
    assert send(client, "/scans/", {}) == 403
    assert not Run.objects.exists()


def test_the_schema_describes_every_address(lake: LakeConfig) -> None:
    generator: Any = SchemaGenerator
    paths = generator().get_schema(public=True)["paths"]
    ours = {path for path in paths if path.startswith(BASE)}
    assert f"{BASE}/tables/{{db}}/{{table}}/items/" in ours
    assert len(ours) >= 10
