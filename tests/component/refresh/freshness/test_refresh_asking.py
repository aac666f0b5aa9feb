"""What people may ask of a table, what is queued then, and what stands in the record."""

import json
from datetime import datetime
from typing import Any

import pytest
from django.test import Client

from portal.access.models import User
from portal.audit.models import AuditEvent
from portal.lake.errors import NotAllowed, RuleViolation, StaleState
from refresh.changes.domain.changes import Cause, PartitionChange
from refresh.changes.services.record_changes import Change, note_change
from refresh.freshness.services.actions import (
    MOST_NAMED,
    refresh_ask,
    repair_ask,
    table_opt_in,
    table_opt_out,
)
from refresh.freshness.ui.forms import AskForm
from refresh.models import ChangedPartition, ClusterCatalog, RefreshTarget, WatchedTable
from tests.component.conftest import People
from tests.component.refresh.refresh_rows import NOW, SALES, at, cluster
from tests.component.refresh.refresh_tables import target, waiting

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]


@pytest.fixture
def sales() -> RefreshTarget:
    """A fresh table of a cluster with a catalog."""
    return target(cluster(), "sales", now=NOW)


def test_names_are_told_apart_by_ends_of_lines_only() -> None:
    form = AskForm({"partitions": "dt=a\u2028b\r\n\r\ndt=c \ndt=d\x85"})
    assert form.is_valid()
    assert form.names() == ["dt=a\u2028b", "dt=c ", "dt=d\x85"]


def again(row: RefreshTarget) -> RefreshTarget:
    return RefreshTarget.objects.select_related("cluster", "watched").get(pk=row.pk)


def recorded() -> list[tuple[str, str, str]]:
    rows = AuditEvent.objects.order_by("seq")
    return [(row.action, row.actor, row.object_id) for row in rows]


def post(user: User, address: str, body: dict[str, Any], *, api: bool = False) -> Any:
    client = Client()
    client.force_login(user)
    if api:
        return client.post(address, json.dumps(body), content_type="application/json")
    return client.post(address, body)


def test_asking_for_the_table_queues_it_in_every_cluster(
    sales: RefreshTarget, people: People
) -> None:
    cluster("etl")
    refresh_ask(sales, user=people.owner, now=NOW)
    rows = RefreshTarget.objects.filter(watched=sales.watched)
    assert rows.count() == 2
    assert all(row.due_at is not None for row in rows)
    watched = WatchedTable.objects.get()
    assert (watched.table_changed_at, watched.causes) == (NOW, ["PERSON"])
    assert recorded() == [("refresh.asked", "olga", "shop.sales")]


def test_partitions_that_a_person_names_are_urgent(sales: RefreshTarget, people: People) -> None:
    refresh_ask(sales, user=people.owner, partitions=["dt=2", "dt=1", "dt=2"], now=NOW)
    assert [(row.name, row.touch) for row in ChangedPartition.objects.order_by("id")] == [
        ("dt=1", PartitionChange.UPDATED),
        ("dt=2", PartitionChange.UPDATED),
    ]
    assert again(sales).is_urgent
    assert WatchedTable.objects.get().table_changed_at is None
    assert AuditEvent.objects.get().data["partitions"] == ["dt=1", "dt=2"]


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (["dt"], "name.partition"),
        (["=x"], "name.partition"),
        ([f"dt={n}" for n in range(MOST_NAMED + 1)], "refresh.too_many"),
    ],
)
def test_names_that_are_none_queue_nothing(
    sales: RefreshTarget, people: People, names: list[str], code: str
) -> None:
    with pytest.raises(RuleViolation) as caught:
        refresh_ask(sales, user=people.owner, partitions=names, now=NOW)
    assert caught.value.code == code
    assert again(sales).due_at is None
    assert recorded() == []


def test_a_table_that_no_cluster_shows_any_more_is_refused(
    sales: RefreshTarget, people: People
) -> None:
    ClusterCatalog.objects.all().delete()
    with pytest.raises(RuleViolation) as caught:
        refresh_ask(sales, user=people.owner, now=NOW)
    assert caught.value.code == "refresh.unshown"
    assert recorded() == []


def test_a_repair_is_a_refresh_of_the_table_and_names_the_front_end(
    sales: RefreshTarget, people: People
) -> None:
    with pytest.raises(NotAllowed):
        repair_ask(sales, front_end="bi-fe1", user=people.owner, now=NOW)
    with pytest.raises(RuleViolation):
        repair_ask(sales, front_end="fe-of-others", user=people.operator, now=NOW)
    repair_ask(sales, front_end="bi-fe1", user=people.operator, now=NOW)
    assert WatchedTable.objects.get().table_changed_at == NOW
    event = AuditEvent.objects.get()
    assert (event.action, event.data["front_end"]) == ("refresh.repair_asked", "127.0.0.3:9030")


def test_opted_out_nothing_waits_and_back_in_what_changed_is_owed(people: People) -> None:
    row = waiting(cluster(), "sales", now=NOW, is_urgent=True)
    with pytest.raises(NotAllowed):
        table_opt_out(row, user=people.owner, reason="no", now=NOW)
    with pytest.raises(RuleViolation):
        table_opt_out(row, user=people.admin, reason=" ", now=NOW)
    table_opt_out(row, user=people.admin, reason="moved to Iceberg", now=NOW)
    assert (again(row).due_at, again(row).waits_since) == (None, None)
    with pytest.raises(StaleState):
        table_opt_out(again(row), user=people.operator, reason="x", now=NOW)
    with pytest.raises(RuleViolation) as caught:
        refresh_ask(again(row), user=people.owner, now=NOW)
    assert "moved to Iceberg" in caught.value.message
    note_change(Change(SALES, Cause.EVENT, partitions={"dt=9": PartitionChange.ADDED}), now=at(5))
    assert again(row).due_at is None
    table_opt_in(again(row), user=people.operator, reason="not moved", now=at(9))
    found = again(row)
    assert (found.waits_since, found.is_urgent, found.watched.is_opted_out) == (at(9), True, False)
    with pytest.raises(StaleState):
        table_opt_in(found, user=people.operator, reason="x", now=at(10))
    assert [action for action, _, _ in recorded()] == ["refresh.opted_out", "refresh.opted_in"]


def test_back_in_without_a_change_nothing_waits(sales: RefreshTarget, people: People) -> None:
    table_opt_out(sales, user=people.admin, reason="test", now=NOW)
    table_opt_in(sales, user=people.admin, reason="test", now=NOW)
    assert again(sales).due_at is None


def test_the_page_takes_names_and_keeps_what_was_typed_when_it_refuses(
    sales: RefreshTarget, people: People
) -> None:
    address = f"/refresh/tables/{sales.pk}/ask/"
    refused = post(people.owner, address, {"partitions": "dt=1\nnonsense"})
    assert refused.status_code == 400
    text = refused.content.decode()
    assert "nonsense&#x27; is not a partition name" in text
    assert "dt=1\nnonsense</textarea>" in text
    taken = post(people.owner, address, {"partitions": "dt=1 \r\n\r\ndt=2"})
    assert taken.status_code == 302
    assert set(ChangedPartition.objects.values_list("name", flat=True)) == {"dt=1 ", "dt=2"}
    assert post(people.stranger, address, {}).status_code == 404


def test_the_same_over_the_api(sales: RefreshTarget, people: People, now: datetime) -> None:
    root = f"/api/v1/refresh/tables/{sales.pk}/"
    asked = post(people.owner, f"{root}ask/", {"partitions": ["dt=1"]}, api=True)
    assert asked.status_code == 202
    assert asked.json()["is_urgent"]
    assert post(people.owner, f"{root}ask/", {"partitions": ["dt"]}, api=True).status_code == 400
    names = {"front_end": "bi-fe0"}
    assert post(people.owner, f"{root}repair/", names, api=True).status_code == 403
    assert post(people.operator, f"{root}repair/", names, api=True).status_code == 202
    assert post(people.admin, f"{root}opt-out/", {}, api=True).status_code == 400
    off = post(people.admin, f"{root}opt-out/", {"reason": "moved"}, api=True)
    assert (off.status_code, off.json()["opted_out_by"], off.json()["is_opted_out"]) == (
        200,
        "ada",
        True,
    )
    on = post(people.admin, f"{root}opt-in/", {"reason": "back"}, api=True)
    assert (on.status_code, on.json()["is_opted_out"]) == (200, False)
    assert post(people.stranger, f"{root}ask/", {}, api=True).status_code == 404
