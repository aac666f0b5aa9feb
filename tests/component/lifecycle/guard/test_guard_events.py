"""What the room keeps of the guard's notes, who is alarmed, who sees it, who may close it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pymetastore.hive_metastore import ttypes
from pytest_django import DjangoAssertNumQueries

from lifecycle.guard.services.alarms import policy_alarms_close
from lifecycle.guard.services.events import DROPPED_KEPT
from lifecycle.models import DroppedObject, PolicyEvent
from portal.access.models import DatabaseAdministrator, User
from portal.audit.models import AuditEvent
from portal.connectors.lake_config import LakeConfig
from portal.connectors.metastore import to_json
from portal.events.models import TableTouch
from portal.events.selectors import alarms_open
from portal.events.services import follow_log
from portal.lake.errors import NotAllowed, RuleViolation
from portal.notices.models import Notice
from tests.component.conftest import People
from tests.component.lifecycle.scanned import scan

pytestmark = pytest.mark.django_db
Ask = Callable[[User], Client]


@dataclass
class Lake:
    """A notification log, and the follower that reads it."""

    now: datetime
    newest: int = 0

    def tell(self, kind: str, message: dict[str, Any], *, db: str = "", table: str = "") -> int:
        """Add one event and have the follower take it in."""
        self.newest += 1
        event = SimpleNamespace(
            eventId=self.newest,
            eventTime=int(self.now.timestamp()),
            eventType=kind,
            dbName=db or None,
            tableName=table or None,
            messageFormat="json-0.2",
            message=json.dumps(message),
        )
        log = SimpleNamespace(
            current_notification_id=lambda: self.newest,
            notifications_after=lambda _id, _limit: [event],
        )
        follow_log("main", log, epoch=1, clock=lambda: self.now)
        assert not alarms_open("main").exists()
        return self.newest

    def note(self, outcome: str, *, user: str = "eve", table: str = "orders", **more: Any) -> int:
        """Have the guard say something of sales.orders, owned by olga."""
        message = {
            "operation": "ALTER_TABLE",
            "db": "sales",
            "table": table,
            "owner": "olga",
            "user": user,
            "admin": outcome == "changed",
            "outcome": outcome,
            "rules": [],
            **more,
        }
        return self.tell("LAKEWARDEN_POLICY", message)

    def altered(self, before: str, after: str, *, table: str = "orders") -> int:
        """Have Hive itself tell of a change of TTL."""
        texts = (
            to_json(
                ttypes.Table(tableName=table, dbName="sales", owner="olga", parameters={"TTL": ttl})
            )
            for ttl in (before, after)
        )
        message = dict(zip(("tableObjBeforeJson", "tableObjAfterJson"), texts, strict=True))
        return self.tell("ALTER_TABLE", message, db="sales", table=table)

    def dropped(self, table: str = "old", *, owner: str = "olga", **more: Any) -> int:
        """Have the guard tell of a dropped table."""
        storage = ttypes.StorageDescriptor(
            cols=[ttypes.FieldSchema("id", "int", "größe")], location=f"file:///lake/{table}"
        )
        struct = ttypes.Table(
            tableName=table,
            dbName="sales",
            owner=owner,
            sd=storage,
            partitionKeys=[ttypes.FieldSchema("dt", "string", None)],
            parameters={"TTL": "60", "<b>": "x"},
            tableType="EXTERNAL_TABLE",
        )
        message = {
            "operation": "DROP_TABLE",
            "db": "sales",
            "table": table,
            "owner": owner,
            "user": "eve",
            "n_partitions": 3,
            "with_database": False,
            "delete_data": True,
            "object": to_json(struct),
            **more,
        }
        return self.tell("LAKEWARDEN_DROP", message)


@pytest.fixture
def told(lake: LakeConfig, people: People, now: datetime) -> Lake:
    follower = Lake(now)
    follow_log(
        "main",
        SimpleNamespace(current_notification_id=lambda: 0, notifications_after=lambda _i, _n: []),
        epoch=1,
        clock=lambda: now,
    )
    return follower


@pytest.fixture
def as_(people: People) -> Ask:
    def sign_in(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return sign_in


CHANGE: dict[str, Any] = {"before": {"TTL": "60"}, "after": {"TTL": "90"}}


def test_a_change_by_an_admin_is_recorded_without_an_alarm(told: Lake) -> None:
    told.note("changed", user="lakewarden", **CHANGE)
    told.altered("60", "90")
    event = PolicyEvent.objects.get()
    assert (event.actor, event.outcome, event.is_alarm) == ("lakewarden", "CHANGED", False)
    record = AuditEvent.objects.get(action="policy.changed")
    assert (record.actor, record.object_id) == ("lakewarden", "sales.orders")
    assert record.data["before"] == {"TTL": "60"}
    assert not Notice.objects.exists()


def test_a_change_by_anyone_else_alarms_and_is_mailed_once_a_day(told: Lake) -> None:
    rules = [{"rule": "policy.rights", "text": "LEVEL and TTL may be changed only by ada."}]
    told.note("would_refuse", **CHANGE, rules=rules)
    told.altered("60", "90")
    told.note("would_refuse", table="users", **CHANGE)
    assert list(PolicyEvent.objects.values_list("actor", "is_alarm")) == [("eve", True)] * 2
    mails = Notice.objects.filter(kind="lifecycle.policy_alarm")
    assert sorted(mail.recipient for mail in mails) == ["ada", "ben", "cem"]
    text = mails[0].text
    assert "eve" in text
    assert "Before: TTL=60" in text
    assert rules[0]["text"] in text


def test_a_change_that_the_guard_did_not_see_alarms_without_a_name(told: Lake) -> None:
    told.altered("60", "90")
    event = PolicyEvent.objects.get()
    assert (event.outcome, event.actor, event.owner) == ("UNSEEN", "", "olga")
    assert event.is_open
    assert AuditEvent.objects.get(action="policy.changed").actor == "unknown"
    told.altered("60", "60")
    told.note("changed", table="users", **CHANGE)
    told.altered("60", "90")
    assert PolicyEvent.objects.filter(outcome="UNSEEN").count() == 2, "a note is for its own table"


def test_a_table_made_anew_with_other_values_alarms(told: Lake) -> None:
    def made(table: str, parameters: dict[str, str]) -> None:
        struct = to_json(ttypes.Table(tableName=table, parameters=parameters))
        told.tell("CREATE_TABLE", {"tableObjJson": struct}, db="sales", table=table)

    told.dropped("same")
    made("same", {"TTL": "60", "note": "x"})
    made("new", {"TTL": "1"})
    told.dropped("plain", object=to_json(ttypes.Table(tableName="plain", parameters={"a": "b"})))
    made("plain", {"TTL": "1"})
    assert not PolicyEvent.objects.exists()
    told.dropped("kept")
    made("kept", {"LEVEL": "1", "TTL": "7"})
    event = PolicyEvent.objects.get()
    assert (event.outcome, event.actor, event.is_alarm) == ("REPLACED", "eve", True)
    assert (event.before, event.after) == ({"TTL": "60"}, {"LEVEL": "1", "TTL": "7"})
    told.dropped("late")
    told.now += timedelta(days=2)
    made("late", {})
    assert PolicyEvent.objects.count() == 1


def test_a_refusal_is_shown_but_alarms_nobody(told: Lake) -> None:
    told.note("refused", **CHANGE)
    told.note("warned", rules=[{"rule": "OWNER_PATH_FAIL", "text": "Elsewhere."}])
    assert not PolicyEvent.objects.filter(is_alarm=True).exists()
    actions = AuditEvent.objects.order_by("seq").values_list("action", flat=True)
    assert list(actions) == ["policy.refused", "policy.breached"]


def test_notes_touch_no_table(told: Lake) -> None:
    told.note("refused", **CHANGE)
    told.dropped()
    assert not TableTouch.objects.filter(db="sales").exists()


def test_only_an_admin_closes_alarms_and_says_why(
    told: Lake, people: People, now: datetime
) -> None:
    told.note("would_refuse", **CHANGE)
    told.note("refused", **CHANGE)
    ids = list(PolicyEvent.objects.values_list("pk", flat=True))
    for user in (people.owner, people.operator):
        with pytest.raises(NotAllowed):
            policy_alarms_close("main", ids, reason="x", user=user, now=now)
    with pytest.raises(RuleViolation):
        policy_alarms_close("main", ids, reason=" ", user=people.admin, now=now)
    with pytest.raises(RuleViolation, match="tick them in the list"):
        policy_alarms_close("main", [], reason="set back", user=people.admin, now=now)
    assert policy_alarms_close("other", ids, reason="x", user=people.admin, now=now) == 0
    assert policy_alarms_close("main", ids, reason="set back", user=people.admin, now=now) == 1
    assert policy_alarms_close("main", ids, reason="again", user=people.admin, now=now) == 0
    closed = PolicyEvent.objects.get(is_alarm=True)
    assert (closed.closed_by, closed.closed_reason) == ("ada", "set back")
    assert AuditEvent.objects.filter(action="policy.alarms_closed").count() == 1


def test_a_dropped_table_is_kept_with_what_it_was(
    told: Lake, lake: LakeConfig, people: People, as_: Ask, now: datetime
) -> None:
    scan_owner = User.objects.create_user("sara")
    scan(lake, now=now)
    told.dropped()
    row = DroppedObject.objects.get()
    assert (row.dropped_by, row.n_partitions, row.n_columns) == ("eve", 3, 2)
    assert (row.location, row.db_owner) == ("file:///lake/old", "sara")
    path = reverse("lifecycle:dropped-object", args=[row.public_id])
    page = as_(scan_owner).get(path).content.decode()
    for shown in ("größe", "external table", "&lt;b&gt;", "file:///lake/old"):
        assert shown in page, shown
    assert as_(people.stranger).get(path).status_code == 404


def test_an_object_too_large_to_keep_is_shown_all_the_same(
    told: Lake, people: People, as_: Ask
) -> None:
    told.dropped("wide", object=None, n_partitions=None)
    told.dropped("", object=None, operation="DROP_DATABASE", with_database=False)
    for row in DroppedObject.objects.all():
        path = reverse("lifecycle:dropped-object", args=[row.public_id])
        assert "too large" in as_(people.admin).get(path).content.decode()


def test_what_is_older_than_its_days_goes_with_the_next_drop(told: Lake) -> None:
    told.dropped("first")
    told.now += DROPPED_KEPT + timedelta(days=1)
    told.dropped("second")
    assert list(DroppedObject.objects.values_list("table", flat=True)) == ["second"]


def test_each_person_sees_what_was_theirs(told: Lake, people: People, as_: Ask) -> None:
    DatabaseAdministrator.objects.create(lake="main", db="sales", username="dora")
    told.dropped("old")
    told.dropped("gone", owner="paul")
    told.note("would_refuse", **CHANGE)
    expected = {people.owner: 1, people.dba: 2, people.admin: 2, people.operator: 2}
    for user, n_dropped in {**expected, people.stranger: 0}.items():
        client = as_(user)
        assert len(client.get(reverse("lifecycle:dropped")).context["page"].rows) == n_dropped
        alarms = client.get(reverse("lifecycle:policy-alarms"))
        assert len(alarms.context["page"].rows) == min(n_dropped, 1)
        assert ("close-alarms" in alarms.content.decode()) == (user == people.admin)
        api = client.get(reverse("lifecycle-api:dropped")).json()["results"]
        assert len(api) == n_dropped
        assert len(client.get(reverse("lifecycle-api:policy-events")).json()["results"]) == min(
            n_dropped, 1
        )


def test_lists_are_empty_before_anything_happened_and_filter_after(
    told: Lake, people: People, as_: Ask
) -> None:
    admin = as_(people.admin)
    assert "Nothing that you may see was dropped" in body(admin, "dropped")
    assert "Nobody has touched" in body(admin, "policy-alarms")
    told.dropped("old")
    told.dropped("", operation="DROP_DATABASE", object=None)
    told.note("would_refuse", **CHANGE)
    told.note("refused", table="users", **CHANGE)
    for name, query, n in (
        ("dropped", "what=database", 1),
        ("dropped", "what=table&table=ol&by=eve&owner=olga", 1),
        ("dropped", "by=nobody", 0),
        ("dropped", "since=2026-11-21", 0),
        ("policy-alarms", "open=yes", 1),
        ("policy-alarms", "open=no", 0),
        ("policy-alarms", "outcome=REFUSED&actor=eve&table=us", 1),
    ):
        answer = admin.get(f"{reverse(f'lifecycle:{name}')}?{query}")
        assert len(answer.context["page"].rows) == n, query


def body(client: Client, name: str) -> str:
    return client.get(reverse(f"lifecycle:{name}")).content.decode()


def test_exports_hold_every_field_and_no_formula(told: Lake, people: People, as_: Ask) -> None:
    told.dropped(user="=cmd()")
    told.note("would_refuse", user="@sum", **CHANGE)
    for name in ("dropped", "policy-alarms"):
        answer: Any = as_(people.admin).get(f"{reverse(f'lifecycle:{name}')}?format=csv")
        text = b"".join(answer.streaming_content).decode()
        assert "sales" in text
        assert ",=cmd" not in text
        assert ",@sum" not in text


def test_alarms_are_closed_on_the_page_and_over_the_api(
    told: Lake, people: People, as_: Ask
) -> None:
    told.note("would_refuse", **CHANGE)
    told.note("would_refuse", table="users", **CHANGE)
    first, second = PolicyEvent.objects.order_by("pk")
    admin = as_(people.admin)
    assert "Policy alarms" in admin.get(reverse("ui:home")).content.decode()
    answer = admin.post(
        reverse("lifecycle:policy-alarms-close"), {"alarm": [first.pk, "x"], "reason": "known"}
    )
    assert answer.status_code == 302
    done = admin.post(
        reverse("lifecycle-api:policy-events-close"),
        json.dumps({"alarms": [first.pk, second.pk], "reason": "known"}),
        content_type="application/json",
    )
    assert done.json() == {"closed": 1}
    refused = as_(people.operator).post(
        reverse("lifecycle-api:policy-events-close"),
        json.dumps({"alarms": [first.pk], "reason": "known"}),
        content_type="application/json",
    )
    assert refused.status_code == 403


def test_pages_ask_as_often_for_many_rows_as_for_few(
    told: Lake,
    people: People,
    as_: Ask,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    for number in range(30):
        told.dropped(f"t{number}")
        told.note("would_refuse", table=f"t{number}", **CHANGE)
    admin = as_(people.admin)
    admin.get(reverse("lifecycle:dropped"))
    for name in ("dropped", "policy-alarms"):
        with django_assert_max_num_queries(20):
            admin.get(reverse(f"lifecycle:{name}"))
