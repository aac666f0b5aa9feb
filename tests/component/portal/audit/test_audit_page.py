"""Tests the audit page: who sees which events, and that it detects a changed record."""

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from portal.access.models import DatabaseAdministrator, User
from portal.audit.services import audit_record
from portal.connectors.lake_config import LakeConfig
from tests.component.conftest import LAKE, NOW, People
from tests.component.lifecycle.scanned import scan

pytestmark = pytest.mark.usefixtures("lake")


def record(action: str, actor: str, object_type: str, object_id: str) -> None:
    audit_record(
        action,
        actor=actor,
        lake=LAKE,
        object_type=object_type,
        object_id=object_id,
        data={"note": "<img src=x onerror=alert(1)>"},
        now=NOW,
    )


def shown(user: User, query: str = "") -> set[str]:
    client = Client()
    client.force_login(user)
    rows = client.get(reverse("ui:api-audit") + query).json()["results"]
    page = client.get(reverse("ui:audit") + query)
    text = page.content.decode()
    assert page.status_code == 200
    assert "<img src=x" not in text
    assert all(row["action"] in text for row in rows)
    return {row["action"] for row in rows}


@pytest.fixture
def events(people: People) -> None:
    DatabaseAdministrator.objects.create(lake=LAKE, db="sales", username=people.dba.username)
    record("did.itself", people.owner.username, "drop_plan", "1")
    record("table.other", people.admin.username, "table", "web.clicks")
    record("table.sales", people.admin.username, "table", "sales.orders")
    record("database.sales", people.admin.username, "database", "sales")
    record("table.likeness", people.admin.username, "table", "sales_eu.orders")


@pytest.mark.usefixtures("events")
def test_everyone_sees_only_what_they_may(people: People) -> None:
    everything = {
        "did.itself",
        "table.other",
        "table.sales",
        "database.sales",
        "table.likeness",
    }
    assert shown(people.admin) == shown(people.operator) == everything
    assert shown(people.owner) == {"did.itself"}
    assert shown(people.dba) == {"table.sales", "database.sales"}
    assert shown(people.stranger) == set()


@pytest.mark.usefixtures("events")
def test_filters_work_and_do_not_widen(people: People) -> None:
    assert shown(people.admin, "?action=table.") == {"table.other", "table.sales", "table.likeness"}
    assert shown(people.admin, "?actor=olga") == {"did.itself"}
    assert shown(people.admin, "?since=2026-11-21") == set()
    assert shown(people.dba, "?object_id=web") == set()


@pytest.mark.usefixtures("events")
def test_the_page_says_whether_the_record_is_whole(people: People) -> None:
    client = Client()
    client.force_login(people.admin)
    assert "Audit chain verified: 5 events" in client.get(reverse("ui:audit")).content.decode()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE audit_auditevent SET actor = 'nobody' WHERE seq = 3")
    page = client.get(reverse("ui:audit")).content.decode()
    assert "Audit chain broken: event 3 was changed" in page


def test_the_owner_of_a_table_sees_what_was_done_to_it(people: People, lake: LakeConfig) -> None:
    scan(lake, now=NOW)
    record("item.dropped", people.admin.username, "item", "sales.orders/dt=2026-08-01")
    record("item.likeness", people.admin.username, "item", "sales.orders_eu/dt=2026-08-01")
    record("table.other", people.admin.username, "table", "web.logs")
    assert shown(people.owner) == {"item.dropped"}


def test_a_detail_named_items_does_not_break_the_page(people: People) -> None:
    audit_record(
        "plan.created",
        actor="ada",
        lake=LAKE,
        object_type="drop_plan",
        object_id="1",
        data={"items": 3, "keys": "k"},
        now=NOW,
    )
    assert shown(people.admin) == {"plan.created"}
