"""The record: only ever added to, and a change to any of it is found."""

import threading
from datetime import datetime

import pytest
from django.db import connection

from portal.audit.models import AuditEvent
from portal.audit.services import AuditEntry, audit_record, audit_record_many, audit_verify
from portal.lake.errors import RuleViolation
from portal.ui.selectors import audit_for_user
from tests.component.conftest import LAKE, People

pytestmark = pytest.mark.django_db
TABLE = "audit_auditevent"


def note(now: datetime, *, actor: str = "ada", **data: object) -> AuditEvent:
    return audit_record(
        "plan.approved",
        actor=actor,
        lake=LAKE,
        object_type="plan",
        object_id="p1",
        data=data,
        now=now,
    )


def tamper(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)


def test_events_form_a_whole_chain(now: datetime) -> None:
    note(now, n=1, when=now, text="Grüße\n")
    entries = [AuditEntry("item.dropped", "lakewarden", LAKE, "item", f"i{n}") for n in range(50)]
    assert [event.seq for event in audit_record_many(entries, now=now)] == list(range(2, 52))
    report = audit_verify()
    assert (report.n_events, report.broken_at) == (51, None)
    assert audit_record_many([], now=now) == []


def test_a_name_longer_than_its_column_stands_whole_in_the_data(now: datetime) -> None:
    long = "sales.orders/dt=" + "x" * 700
    entries = [AuditEntry("item.dropped", "ada", LAKE, "item", long + end) for end in ("1", "2")]
    first, second = audit_record_many(entries, now=now)
    assert len(first.object_id) == 300
    assert first.object_id != second.object_id
    assert AuditEvent.objects.get(seq=second.seq).data == {"name": long + "2"}
    assert audit_verify().broken_at is None


def test_an_event_can_be_neither_changed_nor_deleted(now: datetime) -> None:
    event = note(now)
    event.actor = "somebody"
    for change in (
        event.save,
        event.delete,
        AuditEvent.objects.all().delete,
        lambda: AuditEvent.objects.update(actor="x"),
        lambda: AuditEvent.objects.bulk_update([event], ["actor"]),
    ):
        with pytest.raises(RuleViolation):
            change()
    assert AuditEvent.objects.get().actor == "ada"


@pytest.mark.parametrize(
    ("sql", "broken_at"),
    [
        (f"UPDATE {TABLE} SET actor='eve' WHERE seq=2", 2),
        (f"UPDATE {TABLE} SET data='{{}}' WHERE seq=3", 3),
        (f"DELETE FROM {TABLE} WHERE seq=2", 2),
        (f"DELETE FROM {TABLE} WHERE seq=5", 5),
        (f"UPDATE {TABLE} SET seq=99 WHERE seq=5", 5),
    ],
)
def test_what_was_changed_behind_our_back_is_found(now: datetime, sql: str, broken_at: int) -> None:
    for n in range(5):
        note(now, n=n)
    tamper(sql)
    assert audit_verify().broken_at == broken_at


def test_an_event_added_behind_our_back_is_found(now: datetime) -> None:
    first = note(now)
    forged = AuditEvent(
        seq=2,
        at=now,
        action="plan.approved",
        actor="eve",
        lake=LAKE,
        object_type="plan",
        object_id="p2",
        data={},
        previous_hash=first.hash,
        hash="f" * 64,
    )
    forged.save()
    assert audit_verify().broken_at == 2


@pytest.mark.django_db(transaction=True)
def test_writers_at_the_same_moment_make_one_chain(now: datetime) -> None:
    note(now)
    barrier = threading.Barrier(6)

    def write(name: str) -> None:
        barrier.wait()
        for n in range(10):
            note(now, actor=name, n=n)
        connection.close()

    threads = [threading.Thread(target=write, args=(f"w{n}",)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    report = audit_verify()
    assert (report.n_events, report.problem) == (61, "")


def test_a_stranger_sees_only_what_they_did(now: datetime, people: People) -> None:
    note(now)
    note(now, actor="stan")
    for keeper in (people.admin, people.operator):
        assert audit_for_user(keeper, LAKE).count() == 2
    assert [event.actor for event in audit_for_user(people.stranger, LAKE)] == ["stan"]
