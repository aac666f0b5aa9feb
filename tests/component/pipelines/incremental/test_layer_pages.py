"""Pages and API of layers: for admins and operators, with the same results."""

import csv
from datetime import datetime
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from pipelines.incremental.domain.definitions import to_parsed
from pipelines.incremental.domain.messages import Field
from pipelines.incremental.services.requests import layer_run
from pipelines.incremental.ui.nav import troubled_card
from pipelines.models import Layer, LayerSchemaRequest, LayerSource
from portal.runs.models import Run
from tests.component.conftest import People
from tests.component.pipelines.incremental.layered import (
    ADA,
    COLUMNS,
    ORDERS,
    PAID,
    LayerLake,
    advanced,
    declare,
    edge,
    took,
)

pytestmark = pytest.mark.django_db
FORM = {
    "target": "dwd.orders",
    "sources": "ods.orders\nods.shops static\n",
    "sql": ORDERS.sql,
    "key": "id",
    "version": "at",
    "partition": "dt",
    "event_time": "at",
    "lateness_minutes": "10",
    "kind": "COW",
    "every_minutes": "15",
    "on_commit": "on",
}

JSON = "application/json"


@pytest.fixture
def chain(hive: LayerLake, people: People) -> list[Layer]:
    """Two layers that were advanced now, for pages look at the clock."""
    now = timezone.now()
    rows = [declare(now), declare(now, PAID)]
    took(layer_run(rows[1], by=ADA, now=now), *(advanced(one, now) for one in rows))
    Run.objects.update(finished_at=now)
    return rows


@pytest.fixture
def ada(client: Client, people: People) -> Client:
    client.force_login(people.admin)
    return client


def text(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, answer.content[:500]
    return b"".join(answer).decode() if answer.streaming else answer.content.decode()


def test_others_than_admins_and_operators_see_no_layer(
    chain: list[Layer], client: Client, people: People
) -> None:
    paths = ["/pipelines/layers/", "/pipelines/layers/lineage/", "/pipelines/layers/new/"]
    paths += [f"/pipelines/layers/{chain[0].pk}/", "/api/v1/pipelines/layers/?lake=main"]
    paths += [f"/api/v1/pipelines/layers/{chain[0].pk}/", "/api/v1/pipelines/layers/edges/"]
    for user, status in ((people.owner, 404), (people.operator, 200)):
        client.force_login(user)
        for path in paths:
            assert client.get(path).status_code == status, (user, path)


def test_the_list_the_layer_and_its_history_are_shown_and_exported(
    chain: list[Layer], ada: Client
) -> None:
    listed = text(ada, "/pipelines/layers/")
    assert "dwd.orders" in listed
    assert "Up to date" in listed
    shown = text(ada, f"/pipelines/layers/{chain[0].pk}/")
    for said in ("LEFT JOIN ods.shops", "static table", "rows may be 10 minutes late", "Advanced"):
        assert said in shown, said
    rows = list(csv.DictReader(text(ada, "/pipelines/layers/?format=csv").splitlines()))
    assert [one["table"] for one in rows] == ["orders", "paid"]
    history = f"/pipelines/layers/{chain[0].pk}/?format=csv"
    (row,) = csv.DictReader(text(ada, history).splitlines())
    assert (row["state"], row["n_upserts"], row["n_commits"]) == ("done", "3", "2")


def test_the_lineage_is_a_picture_and_a_table_of_the_same_edges(
    chain: list[Layer], ada: Client
) -> None:
    shown = text(ada, "/pipelines/layers/lineage/")
    assert shown.count("<line ") == 3
    assert shown.count("lw-lineage-target") == 2
    assert "lw-lineage-static" in shown
    assert "0 min" in shown
    rows = list(csv.DictReader(text(ada, "/pipelines/layers/lineage/?format=csv").splitlines()))
    assert [(one["db"], one["table"], one["layer.table"]) for one in rows] == [
        ("ods", "orders", "orders"),
        ("ods", "shops", "orders"),
        ("dwd", "orders", "paid"),
    ]


def test_a_layer_is_created_by_the_form_and_refusals_stand_at_their_field(
    hive: LayerLake, ada: Client
) -> None:
    bad = ada.post(
        "/pipelines/layers/new/", {**FORM, "sql": "SELECT count(*) AS n FROM ods.orders"}
    )
    assert bad.status_code == 400
    assert "Define a materialization" in bad.content.decode()
    bad = ada.post("/pipelines/layers/new/", {**FORM, "sources": "ods.orders dynamic"})
    assert "neither db.table" in bad.content.decode()
    made = ada.post("/pipelines/layers/new/", FORM)
    row = Layer.objects.get()
    assert made.status_code == 302, made.content.decode()[:3000]
    assert made["Location"] == f"/pipelines/layers/{row.pk}/"
    assert row.layer == ORDERS
    edit = text(ada, f"/pipelines/layers/{row.pk}/edit/")
    assert "ods.shops static" in edit
    changed = {**FORM, "lateness_minutes": "20", "version_read": "0"}
    assert ada.post(f"/pipelines/layers/{row.pk}/edit/", changed).status_code == 409
    changed["version_read"] = "1"
    assert ada.post(f"/pipelines/layers/{row.pk}/edit/", changed).status_code == 302
    row.refresh_from_db()
    assert (row.layer.lateness_minutes, row.version) == (20, 2)


def test_actions_of_the_page(chain: list[Layer], ada: Client) -> None:
    row = chain[1]
    place = f"/pipelines/layers/{chain[0].pk}"
    assert ada.post(f"{place}/pause/", {"reason": ""}).status_code == 400
    assert ada.post(f"{place}/pause/", {"reason": "a wrong rate"}).status_code == 302
    assert "a wrong rate" in text(ada, f"{place}/")
    assert ada.post(f"{place}/resume/").status_code == 302
    assert ada.post(f"{place}/reread/", {"reason": "a wrong rate"}).status_code == 302
    assert ada.post(f"{place}/backfill/", {"low": "1", "high": "2"}).status_code == 302
    assert ada.post(f"{place}/backfill/", {"low": "2", "high": "1"}).status_code == 400
    assert ada.post(f"{place}/run/").status_code == 302
    assert ada.post(f"/pipelines/layers/{row.pk}/delete/", {"version": "x"}).status_code == 400
    assert ada.post(f"/pipelines/layers/{row.pk}/delete/", {"version": "1"}).status_code == 302
    assert Layer.objects.count() == 1


def test_changed_columns_are_shown_and_an_admin_approves_them(
    chain: list[Layer], ada: Client, people: People, rf: Any
) -> None:
    row, now = chain[0], timezone.now()
    columns = (*COLUMNS, Field("vat", "double"))
    run = layer_run(row, by=ADA, now=now)
    edges = (edge("ods.orders", now, schema=columns), edge("ods.shops", now))
    took(run, advanced(row, now, state="held", code="layer.schema", reason="new", edges=edges))
    place = f"/pipelines/layers/{row.pk}/"
    shown = text(ada, place)
    assert "Decision needed" in shown
    assert "new: vat double" in shown
    request = rf.get("/?lake=main")
    request.user, request.session = people.admin, {}
    card = troubled_card(request)
    assert card is not None
    assert card.url == place
    source = LayerSource.objects.get(table="orders", layer=row)
    assert ada.post(f"{place}sources/{source.pk}/ask/", {"seen": "new"}).status_code == 409
    seen = {"seen": "new: vat double", "reread": "1"}
    assert ada.post(f"{place}sources/{source.pk}/ask/", seen).status_code == 302
    assert "ada asked" in text(ada, place)
    asked = LayerSchemaRequest.objects.get()
    its = f"/pipelines/layer-schema-requests/{asked.pk}/"
    ben = Client()
    ben.force_login(people.second)
    session = ben.session
    session["lw_authenticated_at"] = now.timestamp()
    session.save()
    page = text(ben, its)
    for shown in ("new: vat double", "All rows are read again", "Approve: columns of ods.orders"):
        assert shown in page
    answer = {"decision": "APPROVE", "digest": asked.digest}
    assert ben.post(f"{its}decide/", answer).status_code == 302
    assert "Decision needed" not in text(ada, place)
    assert troubled_card(request) is None


def test_the_api_does_the_same(hive: LayerLake, ada: Client, now: datetime) -> None:
    body = {"lake": "main", "definition": to_parsed(ORDERS)}
    made = ada.post("/api/v1/pipelines/layers/", body, JSON)
    assert made.status_code == 201, made.content
    found = made.json()
    assert (found["target"], found["state"], found["version"]) == ("dwd.orders", "LAYER_NEW", 1)
    place = f"/api/v1/pipelines/layers/{found['id']}"
    bad = {**body, "definition": {**to_parsed(ORDERS), "sql": "SELECT 1"}}
    refused = ada.post("/api/v1/pipelines/layers/", bad, JSON)
    assert (refused.status_code, refused.json()["code"]) == (400, "layer.statement")
    edited = {**body, "every_minutes": 30, "version": 1}
    assert ada.post(f"{place}/edit/", edited, JSON).status_code == 204
    assert ada.get(f"{place}/").json()["every_minutes"] == 30
    assert ada.post(f"{place}/run/", {}, JSON).status_code == 202
    row = Layer.objects.get()
    run = Run.objects.get()
    Run.objects.update(state="RUNNING", phase="all rows", done=17, total=120)
    assert ada.get(f"{place}/").json()["run"] == str(run.pk)
    assert "17 of 120" in text(ada, f"/pipelines/layers/{row.pk}/")
    took(run, advanced(row, now))
    Run.objects.update(finished_at=now)
    assert ada.get(f"{place}/").json()["run"] is None
    assert ada.post(f"{place}/pause/", {"reason": "so"}, JSON).status_code == 204
    assert ada.post(f"{place}/resume/", {}, JSON).status_code == 204
    assert ada.post(f"{place}/reread/", {"reason": "so"}, JSON).status_code == 204
    backfill = ada.post(f"{place}/backfill/", {"low": "1", "high": "2"}, JSON)
    assert backfill.status_code == 202
    assert [one["mode"] for one in ada.get(f"{place}/advances/").json()["results"]] == ["changes"]
    edges = ada.get("/api/v1/pipelines/layers/edges/?lake=main").json()["results"]
    assert [(one["table"], one["target"]) for one in edges] == [
        ("ods.orders", "dwd.orders"),
        ("ods.shops", "dwd.orders"),
    ]
    accept = f"{place}/sources/{edges[0]['id']}/ask/"
    assert ada.post(accept, {"seen": "new: x int"}, JSON).status_code == 409
    assert ada.post(f"{place}/delete/", {"version": 2}, JSON).status_code == 204
    assert not Layer.objects.exists()
