"""Pages, CSV and API name a front end by its address, not by the name that StarRocks gave it."""

from datetime import datetime
from typing import Any

import pytest
from django.utils import timezone

from portal.audit.models import AuditEvent
from refresh.models import Refresh
from tests.component.conftest import People
from tests.component.refresh.freshness.test_refresh_pages import (
    HISTORY,
    QUEUE,
    TABLES,
    client_of,
    page,
    rows_of,
)
from tests.component.refresh.refresh_rows import cluster
from tests.component.refresh.refresh_tables import running, statement, target

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
API = "/api/v1/refresh/"
ONE = "127.0.0.2:9030"


@pytest.fixture
def now() -> datetime:
    return timezone.now()


def got(people: People, path: str) -> Any:
    answer = client_of(people.admin).get(f"{API}{path}")
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_what_runs_where_is_named_alike_on_pages_in_csv_and_api(
    people: People, now: datetime
) -> None:
    row = running(cluster(), "busy", now=now, only_on="bi-fe0")
    for address in (QUEUE, TABLES, "/refresh/queue/now/"):
        text = page(people.admin, address)
        assert ONE in text, address
        assert "bi-fe0" not in text, address
    (listed,) = rows_of(people.admin, TABLES)
    assert listed["running_on_address"] == ONE
    (listed,) = got(people, "queue/now/")["running"]
    assert (listed["running_on"], listed["only_on"]) == (ONE, ONE)
    (listed,) = got(people, "tables/")["results"]
    assert (listed["running_on"], listed["front_ends"][0]["front_end"]) == (ONE, ONE)
    one = got(people, f"tables/{row.pk}/")
    assert (one["running_on"], one["front_ends"][0]["front_end"]) == (ONE, ONE)


def test_one_that_left_the_cluster_keeps_the_name_that_is_known(
    people: People, now: datetime
) -> None:
    row = running(cluster(), "busy", now=now)
    row.cluster.front_ends.filter(name="bi-fe0").delete()
    (listed,) = got(people, "queue/now/")["running"]
    assert listed["running_on"] == "bi-fe0"


def test_the_history_names_who_took_a_statement_by_its_address(
    people: People, now: datetime
) -> None:
    statement(target(cluster(), "orders", now=now), began=now)
    (listed,) = rows_of(people.admin, HISTORY)
    assert listed["taker_address"] == ONE
    (listed,) = got(people, "history/")["results"]
    assert listed["coordinator"] == ONE
    assert listed["on_fes"][ONE] == ["DONE", ""]
    shown = page(people.admin, f"{HISTORY}{Refresh.objects.get().public_id}/")
    assert f"<code>{ONE}</code>" in shown


def test_a_repair_is_asked_for_by_the_name_that_is_shown(people: People, now: datetime) -> None:
    row = target(cluster(), "orders", now=now)
    client = client_of(people.operator)
    asked = client.post(
        f"{API}tables/{row.pk}/repair/", {"front_end": ONE}, content_type="application/json"
    )
    assert asked.status_code == 202, asked.content
    assert AuditEvent.objects.latest("id").data["front_end"] == ONE
    assert f'value="{ONE}"' in page(people.operator, f"{TABLES}{row.pk}/")
