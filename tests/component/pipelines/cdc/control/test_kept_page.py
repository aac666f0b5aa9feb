"""What is in quarantine and aside: admins see it, each read is recorded, others see nothing."""

from datetime import datetime

import pytest
from django.test import Client
from django.urls import reverse

from pipelines.models import CapturedTable, Pipeline
from portal.audit.models import AuditEvent
from portal.connectors.lake_config import LakeConfig
from tests.component.conftest import People
from tests.component.pipelines.cdc.control.test_pipeline_pages import api, page, signed_in
from tests.component.pipelines.cdc.control.test_table_protections import shop, users

pytestmark = pytest.mark.django_db
__all__ = ["shop", "users"]
KEPT = {
    "quarantined": [
        {"reason": "type", "at": 1_000, "schema": 1, "column": "day", "key": '{"id":"7"}',
         "text": "<b>no day"},
        {"reason": "type", "at": 1_000, "schema": 1, "column": "phone", "text": "0911-556677"},
    ],
    "aside": {"pin": 12_345},
}  # fmt: skip


@pytest.fixture
def kept(users: CapturedTable) -> CapturedTable:
    CapturedTable.objects.update(kept=KEPT, n_quarantined=2)
    return users


@pytest.fixture
def ada(people: People, lake: LakeConfig) -> Client:
    return signed_in(people.admin)


@pytest.fixture
def otto(people: People, lake: LakeConfig) -> Client:
    return signed_in(people.operator)


def test_an_admin_sees_what_is_kept_and_it_is_recorded(ada: Client, kept: CapturedTable) -> None:
    text = page(ada, "table-kept", "shop", kept.pk)
    for shown in ("&lt;b&gt;no day", "phone", "12,345", "90 days", "Retry quarantined"):
        assert shown in text
    # Protected since, as the table's key is.
    assert "0911-556677" not in text
    assert "{&quot;id" not in text
    answer = ada.get(reverse("pipelines-api:table-kept", args=["shop", kept.pk])).json()
    assert answer["n_quarantined"] == 2
    assert [one["text"] for one in answer["quarantined"]] == ["<b>no day", None]
    assert [one["key"] for one in answer["quarantined"]] == [None, None]
    assert answer["aside"] == [{"column": "pin", "n": 12_345}]
    events = AuditEvent.objects.filter(action="pipelines.kept_read")
    assert [one.object_id for one in events] == ["shop/shop.users"] * 2


def test_an_operator_does_not_and_may_retry(otto: Client, kept: CapturedTable) -> None:
    for name in ("pipelines:table-kept", "pipelines-api:table-kept"):
        assert otto.get(reverse(name, args=["shop", kept.pk])).status_code == 404
    assert not AuditEvent.objects.filter(action="pipelines.kept_read").exists()
    text = page(otto, "table", "shop", kept.pk)
    assert "no day" not in text
    assert "what is quarantined and aside" not in text
    assert "Change protections" not in text
    answer = otto.post(
        reverse("pipelines:quarantine-retry", args=["shop", kept.pk]), {"reason": "x"}
    )
    assert answer.status_code == 302
    first = CapturedTable.objects.get().retry
    assert first
    assert api(otto, "quarantine-retry", "shop", kept.pk, reason="x").status_code == 200
    assert CapturedTable.objects.get().retry != first
    assert api(otto, "quarantine-retry", "shop", kept.pk).status_code == 400


def test_an_admin_changes_protections_on_the_page_of_the_table(
    ada: Client, otto: Client, users: CapturedTable, now: datetime
) -> None:
    text = page(ada, "table", "shop", users.pk)
    assert "phone = encrypted:PII" in text
    said = {"protections": "id = deterministic:DET\nphone = redact", "partition": "day"}
    address = reverse("pipelines:table-protect", args=["shop", users.pk])
    assert otto.post(address, {**said, "reason": "law"}).status_code == 403
    assert ada.post(address, said).status_code == 400
    assert ada.post(address, {**said, "reason": "law"}).status_code == 302
    row = CapturedTable.objects.get()
    assert row.protections == {"id": "deterministic:DET", "phone": "redact"}
    assert row.target_table == "shop_users"

    body = {"protections": {"phone": "redact"}, "partition": "", "reason": "law"}
    assert api(otto, "table-protect", "shop", users.pk, **body).status_code == 403
    answer = api(ada, "table-protect", "shop", users.pk, **body)
    assert answer.status_code == 200
    assert answer.json()["protections"] == {"phone": "redact"}
    body["protections"] = {"phone": "secret"}
    assert api(ada, "table-protect", "shop", users.pk, **body).status_code == 400


def test_lines_that_are_none_are_said_beside_their_field(ada: Client) -> None:
    asked = {"protections": "shop.users.phone encrypted", "partitions": "= day", "do": "test"}
    answer = ada.post(reverse("pipelines:create"), asked)
    assert answer.status_code == 400
    text = answer.content.decode()
    assert "shop.users.phone encrypted&#x27; is no line of this" in text
    assert "= day&#x27; is no line of this" in text


def test_the_form_of_an_edit_shows_what_was_asked(ada: Client, shop: Pipeline) -> None:
    text = page(ada, "edit", shop.name)
    assert "shop.users.phone = encrypted:PII" in text
    assert "shop.users = day" in text
