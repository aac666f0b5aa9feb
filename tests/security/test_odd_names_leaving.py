"""Tests odd names: plain data in CSV, JSON, calendars, mails, the chat and log lines."""

import csv
import io
from collections.abc import Iterator
from datetime import timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

import pytest
from django.conf import settings
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.module_loading import import_string

from lifecycle.guard.services.alarms import alarm_mail_queue
from lifecycle.models import (
    LatestScan,
    PolicyEvent,
    RelocationMove,
    RelocationPlan,
    RestoreTest,
    RestoreTestItem,
    RestoreVerification,
)
from lifecycle.notices.services.daily_report import daily_report_queue
from lifecycle.relocation.services.moved_mail import moved_queue
from lifecycle.restore.services.late_commits import late_commits_queue
from lifecycle.restore_tests.domain import Compared, RestoreTestState
from lifecycle.restore_tests.services.alarms import (
    restore_test_failed_queue,
    restore_test_overdue_queue,
)
from portal.notices.models import Notice, NoticeState
from portal.notices.services import notices_send
from tests.component.lifecycle.plan_world import LAKE, NOW, TODAY
from tests.security.corpora import TEXTS
from tests.security.inert import Page
from tests.security.odd_lake import AUDITED, NAMES, PARTITIONS, OddLake
from tests.support.icalendar import read_calendar

pytestmark = pytest.mark.django_db(transaction=True)
HEADERS = {
    *("Subject", "From", "To", "Date", "Message-ID", "Auto-Submitted", "MIME-Version"),
    "Content-Type",
}
MUTABLE = "List-Unsubscribe"
"""Stands in mails of a kind that its reader may turn off."""
STARTS = "=+-@|%\uff1d\uff0b\uff0d\uff20"
UNSEEN = "\t\r\n \xa0\ufeff\x0b\x0c\u2028\u2029\x85\u200b"
# How a second line of such a text begins: no line of a mail or a log may begin so.
SECOND = [line.strip() for text in TEXTS.values() for line in text.splitlines()[1:]]
TAILS = [line for line in SECOND if len(line) > 1]


def csv_of(client: Client, address: str) -> list[dict[str, str]]:
    """Read a CSV strictly: one record a row, every record as long as its head."""
    answer = client.get(address)
    assert answer.headers["Content-Type"].startswith("text/csv"), address
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Disposition"].startswith("attachment;")
    text = answer.getvalue().decode()
    head, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    assert all(len(row) == len(head) for row in rows), address
    for row in rows:
        for cell in row:
            assert is_harmless(cell), (address, cell)
    return [dict(zip(head, row, strict=True)) for row in rows]


def is_harmless(cell: str) -> bool:
    """Whether no spreadsheet takes a cell for a formula, whatever it skips before it."""
    bare = cell.lstrip(UNSEEN)
    return not bare or bare[0] not in STARTS or bare.replace(".", "").lstrip("-").isdigit()


def undone(cell: str) -> set[str]:
    """Return what a cell may have been before it was made harmless."""
    return {cell, cell[1:].replace("\\|", "|"), cell[1:]} if cell[:1] == "'" else {cell}


def test_a_csv_has_one_harmless_row_a_record_and_every_name(odd: OddLake) -> None:
    client = odd.client("bert")
    plan, day = odd.plan, NOW.date()
    for address, key, wanted in (
        (reverse("lifecycle:paths"), "table", NAMES),
        (reverse("lifecycle:expiring"), "table", NAMES),
        (reverse("ui:table-tab", args=["sales", "orders", "partitions"]), "partition", PARTITIONS),
        (reverse("lifecycle:holds"), "partition", PARTITIONS),
        (reverse("lifecycle:policy-alarms"), "table", NAMES),
    ):
        rows = csv_of(client, f"{address}?format=csv")
        assert len(rows) in (len(wanted), len(wanted) + 1), address
        found = {text for row in rows for text in undone(row[key])}
        assert not set(wanted.values()) - found, address
    rows = csv_of(client, reverse("ui:audit") + f"?format=csv&action={AUDITED}")
    assert len(rows) == len(TEXTS)
    for address in (reverse("lifecycle:backups"), reverse("ui:runs"), reverse("ui:mails")):
        assert csv_of(client, f"{address}?format=csv"), (plan, day)


def test_the_api_and_calendars_give_each_name_back_exactly(odd: OddLake) -> None:
    api_gives(odd)
    calendar_gives(odd)


def api_gives(odd: OddLake) -> None:
    """Read the lists of the API."""
    client = odd.client("bert")
    items = reverse("lifecycle-api:backup-items", args=[odd.batch.public_id])
    for address, key, wanted in (
        (reverse("lifecycle-api:paths"), "table", NAMES),
        (reverse("lifecycle-api:tables"), "table", NAMES),
        (reverse("lifecycle-api:items", args=["sales", "orders"]), "partition", PARTITIONS),
        (reverse("lifecycle-api:holds"), "partition", PARTITIONS),
        (reverse("lifecycle-api:policy-events"), "table", NAMES),
        (items, "partition", PARTITIONS),
    ):
        answer = client.get(address, {"size": "200"})
        assert answer.headers["Content-Type"] == "application/json"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        found = {row[key] for row in answer.json()["results"]}
        assert not set(wanted.values()) - found, address
    log = client.get(reverse("ui:api-run", args=[odd.run.pk])).json()["lines"]
    assert [line["text"] for line in log] == list(TEXTS.values())


def calendar_gives(odd: OddLake) -> None:
    """Read the calendar: an event a table, and no line of theirs."""
    page = odd.client("dora").post(reverse("lifecycle:calendar-make"))
    feed = Client().get(page.context["address"])
    assert feed.headers["Content-Type"].startswith("text/calendar")
    _, events = read_calendar(feed.content)
    names = {one["SUMMARY"].rpartition(": ")[0] for one in events}
    assert {f"sales.{shown(name)}" for name in NAMES.values()} <= names
    assert all(set(one) <= {"UID", "URL", "TRANSP", "SUMMARY", "DESCRIPTION", "DTSTAMP", "DTSTART",
                            "DTEND"} for one in events)  # fmt: skip


def shown(text: str) -> str:
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(c for c in plain if c == "\n" or not (ord(c) < 32 or 0x7F <= ord(c) < 0xA0))


def mails_of(odd: OddLake) -> Iterator[EmailMessage]:
    """Have every mail written that speaks of names, and give what a server would get."""
    generation = LatestScan.objects.get(lake=LAKE).generation
    daily_report_queue(generation, now=NOW)
    told = [
        {"name": f"sales.{name}", "partition": part, "owner": "alice", "found": "GREW",
         "detail": name, "is_registered": True}
        for name, part in zip(NAMES.values(), PARTITIONS.values(), strict=True)
    ]  # fmt: skip
    late_commits_queue(odd.run, told, now=NOW)
    moved = [
        RelocationMove(
            lake=LAKE, db="sales", table=name, partition=part, owner="alice", state="MOVED",
            source=name, target=name,
        )
        for name, part in zip(NAMES.values(), PARTITIONS.values(), strict=True)
    ]  # fmt: skip
    for reason in [text for text in TEXTS.values() if len(text.splitlines()) > 1]:
        fix = RelocationPlan(lake=LAKE, reason=reason, requested_by=reason)
        assert moved_queue(fix, moved, odd.run, now=NOW) == 2  # the owner and the database's
    odd_alarms = [event for event in PolicyEvent.objects.all() if len(event.table.splitlines()) > 1]
    for alarm in odd_alarms:
        Notice.objects.filter(kind="lifecycle.policy_alarm").update(kind=f"test.{alarm.pk}")
        assert alarm_mail_queue(alarm, now=NOW) == 3
    restore_tests_alarm(odd)
    for notice in Notice.objects.filter(recipient="#webhook"):
        assert not [name for name in NAMES.values() if len(name) > 6 and name in notice.text]
        notice.delete()
    queued = Notice.objects.filter(state=NoticeState.QUEUED)
    counts = notices_send(now=timezone.now(), today=TODAY)
    assert (counts["failed"], counts["retry"], queued.count()) == (0, 0, 0)
    for sent in mail.outbox:
        assert len(sent.recipients()) == 1
        data = sent.message().as_bytes()
        yield message_from_bytes(data, policy=policy.default)


def restore_tests_alarm(odd: OddLake) -> None:
    """Send the mails about a restore test that failed and about what is not verified."""
    restore_test = RestoreTest.objects.create(
        lake=LAKE,
        run_id=odd.run.pk,
        state=RestoreTestState.FAILED,
        requested_by="anna",
        started_at=NOW,
        finished_at=NOW,
    )
    RestoreTestItem.objects.bulk_create(
        RestoreTestItem(
            restore_test=restore_test,
            lake=LAKE,
            batch_id=odd.batch.public_id,
            day=TODAY,
            db="sales",
            table=name,
            partition=PARTITIONS[key],
            item=f"i{n}",
            outcome=Compared.DIFFERS,
            differences=[f"{TEXTS[key]} is missing"],
            checked_at=NOW,
        )
        for n, (key, name) in enumerate(NAMES.items())
    )
    long_ago = TODAY - timedelta(days=400)
    RestoreVerification.objects.bulk_create(
        RestoreVerification(lake=LAKE, db=name, backed_up_since=long_ago, n_restorable=1)
        for name in NAMES.values()
    )
    assert (
        restore_test_failed_queue(restore_test, now=NOW)
        == restore_test_overdue_queue(LAKE, now=NOW)
        > 0
    )


def test_a_mail_has_the_headers_meant_one_reader_and_inert_words(
    odd: OddLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "LAKEWARDEN_WEBHOOK_URL", "https://chat.example/hook")
    kinds = set()
    for message in mails_of(odd):
        keys = [key for key in message if key != "Content-Transfer-Encoding"]
        assert keys.count(MUTABLE) <= 1, message.items()
        assert sorted(set(keys) - {MUTABLE}) == sorted(HEADERS), message.items()
        assert len(keys) == len(set(keys)), message.items()
        assert message["To"].count("@") == 1
        assert message["Subject"].startswith("[Lakewarden] ")
        kinds.add(message["Subject"][13:20])
        plain, html = message.get_body(("plain",)), message.get_body(("html",))
        assert plain is not None
        for line in plain.get_content().splitlines():
            assert not [tail for tail in TAILS if line.startswith(tail)], line
        if html is not None:
            page = Page(html.get_content(), is_mail=True)
            assert not page.wrong, (message["Subject"], page.wrong[:4])
            assert all(one.startswith("http") for one in page.addresses)
    assert kinds == {"Your da", "Daily r", "Alarm: ", "Policy ", "Data wa"}


def test_a_line_of_the_servers_log_stays_one_line(
    odd: OddLake, caplog: pytest.LogCaptureFixture
) -> None:
    formatters: Any = settings.LOGGING["formatters"]
    client, said = odd.client("bert"), formatters["line"]
    formatter = import_string(said.get("()", "logging.Formatter"))(said["format"])
    texts = [text for text in TEXTS.values() if len(f"{text}.".splitlines()) > 1]
    for text in texts:
        client.get(reverse("lifecycle:table", args=["sales", f"no {text}"[:200]]))
    assert len(caplog.records) > len(texts) > 10
    for record in caplog.records:
        assert len(formatter.format(record).splitlines()) == 1, record.getMessage()
