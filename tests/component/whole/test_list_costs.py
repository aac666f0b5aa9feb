"""Tests list costs: the same at ten rows and at a thousand, with pages read from an index."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from portal.audit.services import AuditEntry, audit_record_many
from portal.connectors.lake_config import LakeConfig
from portal.notices.models import Notice
from portal.runs.models import Run
from portal.ui.lists.keyset import keyset_page
from portal.ui.views.runs import ORDERS
from tests.component.conftest import LAKE, NOW, People
from tests.component.lifecycle.scanned import scan

QUERIES_AT_MOST = 16  # two of them are the badges of the menu
LISTS = (
    "ui:runs",
    "ui:audit",
    "ui:mails",
    "lifecycle:expiring",
    "lifecycle:paths",
    "lifecycle:databases",
    "lifecycle:plans",
    "lifecycle:holds",
    "lifecycle:calendar",
    "lifecycle:backups",
    "readiness:checks",
    "readiness:check-coverage",
)


def grow(n_rows: int) -> None:
    Run.objects.bulk_create(
        Run(lake=LAKE, kind="k", requested_by="ada", queued_at=NOW - timedelta(minutes=place))
        for place in range(n_rows)
    )
    Notice.objects.bulk_create(
        Notice(
            lake=LAKE,
            kind=f"k{place}",
            day=NOW.date(),
            recipient=str(n_rows),
            message_id=f"{n_rows}-{place}",
            queued_at=NOW,
            not_before=NOW,
        )
        for place in range(n_rows)
    )
    entry = AuditEntry("x.y", "ada", LAKE, "table", "sales.orders", {"n": 1})
    audit_record_many([entry] * n_rows, now=NOW)


def n_queries(client: Client, name: str) -> int:
    with CaptureQueriesContext(
        connection,
    ) as caught:
        assert client.get(reverse(name)).status_code == 200
    return len(caught)


def test_lists_ask_few_questions_and_not_more_for_more_rows(
    people: People, lake: LakeConfig
) -> None:
    scan(lake, now=NOW)
    client = Client()
    client.force_login(people.admin)
    client.get(reverse("ui:profile"))  # the first visit writes the session
    grow(10)
    few = {name: n_queries(client, name) for name in LISTS}
    grow(600)
    many = {name: n_queries(client, name) for name in LISTS}
    assert many == few
    assert {name: n for name, n in many.items() if n > QUERIES_AT_MOST} == {}


@pytest.mark.django_db
def test_a_deep_page_is_found_in_the_index() -> None:
    grow(300)
    rows = Run.objects.filter(lake=LAKE)
    page = keyset_page(rows, {}, orders=ORDERS)
    with CaptureQueriesContext(connection) as caught:
        keyset_page(rows, {"after": page.next_cursor}, orders=ORDERS)
    ids_first = caught.captured_queries[0]["sql"]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {ids_first}")
        plan = " ".join(str(row[-1]) for row in cursor.fetchall())
    assert "COVERING INDEX runs_by_time" in plan
    assert "TEMP B-TREE" not in plan
