"""The pages and the API of pipelines: what staff see and do, and that nobody else does."""

import json
from datetime import datetime
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from pipelines.cdc.control.domain.spec import spec_of
from pipelines.cdc.control.services.pipelines import pipeline_create
from pipelines.models import CapturedTable, Pipeline, PipelineMinute, SchemaChange
from portal.access.models import User
from portal.connectors.lake_config import LakeConfig
from tests.component.conftest import People
from tests.component.pipelines.cdc.control.test_pipelines import ADA, captured
from tests.unit.pipelines.cdc.control.test_spec import GOOD

pytestmark = pytest.mark.django_db

# Nothing listens there, so a test of it ends at once.
NOWHERE = {**GOOD, "host": "127.0.0.1", "port": 1}


def signed_in(user: User, *, is_fresh: bool = True) -> Client:
    client = Client()
    client.force_login(user)
    session = client.session
    if is_fresh:
        session["lw_authenticated_at"] = timezone.now().timestamp()
    session.save()
    return client


@pytest.fixture
def ada(people: People, lake: LakeConfig, monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setenv("LAKEWARDEN_CDC_PASSWORD_SHOP", "secret")
    return signed_in(people.admin)


@pytest.fixture
def otto(people: People, lake: LakeConfig) -> Client:
    return signed_in(people.operator)


@pytest.fixture
def shop(lake: LakeConfig, now: datetime) -> Pipeline:
    return pipeline_create(spec_of(GOOD), by=ADA, now=now)


def page(client: Client, name: str, *args: object, query: str = "") -> str:
    answer = client.get(reverse(f"pipelines:{name}", args=args) + query)
    assert answer.status_code == 200
    return b"".join(answer).decode()


def api(client: Client, name: str, /, *args: object, **said: Any) -> Any:
    address = reverse(f"pipelines-api:{name}", args=args)
    return client.post(address, json.dumps(said), content_type="application/json")


def test_without_a_pipeline_the_page_says_who_creates_one(ada: Client, otto: Client) -> None:
    assert "Create a pipeline" in page(ada, "pipelines")
    text = page(otto, "pipelines")
    assert "An admin creates the first one" in text
    assert "Create a pipeline" not in text


def test_a_server_that_does_not_answer_is_tested_and_nothing_is_stored(ada: Client) -> None:
    for do in ("test", "create"):
        answer = ada.post(reverse("pipelines:create"), {**NOWHERE, "do": do})
        text = answer.content.decode()
        assert "It cannot be created yet" in text
        assert "127.0.0.1:1 does not answer" in text
    assert not Pipeline.objects.exists()


def test_what_cannot_be_a_pipeline_is_said_above_the_form(ada: Client) -> None:
    answer = ada.post(reverse("pipelines:create"), {**NOWHERE, "patterns": "orders", "do": "test"})
    assert answer.status_code == 400
    assert "write database.table" in answer.content.decode()


def test_without_the_password_the_variable_is_named(
    ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LAKEWARDEN_CDC_PASSWORD_SHOP")
    answer = ada.post(reverse("pipelines:create"), {**NOWHERE, "do": "test"})
    assert "LAKEWARDEN_CDC_PASSWORD_SHOP is not set" in answer.content.decode()


@pytest.mark.parametrize("is_admin", [True, False])
def test_nobody_without_a_fresh_log_in_has_the_portal_log_in_somewhere(
    people: People, lake: LakeConfig, is_admin: bool
) -> None:
    client = signed_in(people.admin, is_fresh=False) if is_admin else signed_in(people.operator)
    answer = client.post(reverse("pipelines:create"), {**NOWHERE, "do": "test"})
    assert "Only an admin names a server" in answer.content.decode()
    assert api(client, "pipeline-test", **{**NOWHERE, "patterns": ["shop.*"]}).status_code == 403


def test_the_page_of_a_pipeline_shows_its_tables_and_its_last_hours(
    otto: Client, shop: Pipeline
) -> None:
    now = timezone.now()
    Pipeline.objects.update(heard_at=now, position="0:bin.000001:90", problem="")
    captured(shop, loaded_at=now, applied_at=now, data_at=now)
    captured(shop, "events", refused="It has no primary key.")
    PipelineMinute.objects.create(pipeline=shop, minute=now, n_rows=120, capture_lag=1.5)
    text = page(otto, "pipeline", "shop")
    for shown in ("0:bin.000001:90", "shop.orders", "It has no primary key.", "Lag behind"):
        assert shown in text
    assert "LAKEWARDEN_CDC_PASSWORD_SHOP" in text
    table = page(otto, "pipeline", "shop", query="?format=csv")
    assert "shop.orders" in table
    assert page(otto, "pipelines", query="?format=csv").splitlines()[1].startswith("shop,")


def test_the_page_of_a_table_shows_each_schema(otto: Client, shop: Pipeline) -> None:
    table = captured(shop, schema_number=2)
    SchemaChange.objects.create(
        captured=table,
        number=2,
        first_version=9,
        columns=[],
        key=["id"],
        decision="waiting",
        changes=[{"what": "type", "column": "qty", "cls": "person", "reason": "It may lose."}],
        ddl="ALTER TABLE orders MODIFY qty varchar(9)",
        seen_at=timezone.now(),
    )
    text = page(otto, "table", "shop", table.pk)
    for shown in ("It may lose.", "MODIFY qty varchar(9)", "Waiting"):
        assert shown in text


def test_operators_pause_and_resume_and_only_admins_edit(
    otto: Client, ada: Client, shop: Pipeline
) -> None:
    table = captured(shop)
    for name, args in (("pause", ("shop",)), ("table-pause", ("shop", table.pk))):
        answer = otto.post(reverse(f"pipelines:{name}", args=args), {"reason": "the source moves"})
        assert answer.status_code == 302
    shop.refresh_from_db()
    assert (shop.desired, CapturedTable.objects.get().desired) == ("PAUSED", "PAUSED")
    text = page(otto, "pipeline", "shop")
    assert "the source moves" in text
    assert "Delete this pipeline" not in text
    assert "Delete this pipeline" in page(ada, "pipeline", "shop")
    answer = ada.post(reverse("pipelines:delete", args=["shop"]), {"typed": "shop", "reason": "x"})
    assert answer.status_code == 302
    assert not Pipeline.objects.exists()


def test_an_edit_that_cannot_be_captured_changes_nothing(ada: Client, shop: Pipeline) -> None:
    said = {key: value for key, value in NOWHERE.items() if key not in {"name", "lake"}}
    answer = ada.post(
        reverse("pipelines:edit", args=["shop"]), {**said, "version": 0, "do": "keep"}
    )
    assert "It cannot be saved yet" in answer.content.decode()
    shop.refresh_from_db()
    assert (shop.host, shop.version) == (GOOD["host"], 0)


def test_the_api_does_what_the_pages_do(ada: Client, otto: Client, shop: Pipeline) -> None:
    table = captured(shop)
    listed = otto.get(reverse("pipelines-api:pipelines")).json()["results"]
    assert [(one["name"], one["n_tables"]) for one in listed] == [("shop", 1)]
    (row,) = otto.get(reverse("pipelines-api:tables", args=["shop"])).json()["results"]
    assert (row["target"], row["state"]) == ("ods.orders", "CDC_TABLE_LOADING")
    assert otto.get(reverse("pipelines-api:pipeline", args=["shop"])).json()["n_tables"] == 1
    paused = api(otto, "pause", "shop", reason="the source moves").json()
    assert paused["desired"] == "PAUSED"
    assert api(otto, "resume", "shop", reason="it moved").json()["desired"] == "RUNNING"
    shown = api(otto, "table-pause", "shop", table.pk, reason="too much").json()
    assert shown["state"] == "CDC_TABLE_PAUSED"
    assert api(otto, "table-resume", "shop", table.pk, reason="less").status_code == 200
    refused = api(ada, "pipelines", **{**NOWHERE, "name": "crm", "patterns": ["shop.*"]})
    assert (refused.status_code, refused.json()["code"]) == (400, "pipeline.test")
    tested = api(ada, "pipeline-test", **{**NOWHERE, "patterns": ["shop.*"]}).json()
    assert (tested["is_good"], tested["findings"][0]["code"]) == (False, "reachable")
    edit = {key: value for key, value in NOWHERE.items() if key not in {"name", "lake"}}
    assert (
        api(ada, "edit", "shop", **{**edit, "patterns": ["a.b"], "version": 0}).status_code == 400
    )
    assert api(ada, "delete", "shop", reason="old", typed="shop").json()["code"] == "pipeline.runs"


def test_home_tells_staff_of_pipelines_that_stand_still(
    otto: Client, people: People, shop: Pipeline
) -> None:
    now = timezone.now()
    Pipeline.objects.update(desired_at=now, heard_at=now)
    assert "Pipelines that stand still" not in otto.get("/").content.decode()
    Pipeline.objects.update(problem="It refuses the user.")
    home = otto.get("/").content.decode()
    assert "Pipelines that stand still" in home
    assert "It refuses the user." in home
    owner = signed_in(people.owner).get("/").content.decode()
    assert "Pipelines that stand still" not in owner


def test_a_monitoring_server_reads_the_numbers(otto: Client, shop: Pipeline) -> None:
    now = timezone.now()
    Pipeline.objects.update(desired_at=now, heard_at=now)
    captured(shop, loaded_at=now, applied_at=now, data_at=now, n_quarantined=3)
    text = otto.get("/metrics").content.decode()
    assert 'lakewarden_cdc_pipelines{lake="main",state="RUNNING"} 1' in text
    assert 'lakewarden_cdc_quarantined_records{pipeline="shop"} 3' in text
    assert 'lakewarden_cdc_data_age_seconds{pipeline="shop"}' in text


@pytest.mark.parametrize("who", ["owner", "stranger"])
def test_for_others_there_are_no_pipelines(people: People, shop: Pipeline, who: str) -> None:
    client = signed_in(getattr(people, who))
    table = captured(shop)
    for name, args in (
        ("pipelines", ()), ("create", ()), ("pipeline", ("shop",)), ("edit", ("shop",)),
        ("table", ("shop", table.pk)),
    ):  # fmt: skip
        assert client.get(reverse(f"pipelines:{name}", args=args)).status_code == 404
    for name in ("pipelines", "tables", "pipeline"):
        args = () if name == "pipelines" else ("shop",)
        assert client.get(reverse(f"pipelines-api:{name}", args=args)).status_code == 404
    assert api(client, "pause", "shop", reason="x").status_code == 404
