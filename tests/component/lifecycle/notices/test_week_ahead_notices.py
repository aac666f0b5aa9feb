"""Owners are told a week ahead, once a day each, by mails that are really sent; and what counts."""

import socket
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from django.test import Client
from django.utils.html import escape

from lifecycle.core.selectors.sent_notices import coverages_of
from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.models import NoticeCoverage
from lifecycle.planning.selectors.inputs import current_generation
from portal.access.models import DatabaseAdministrator, User
from portal.connectors.lake_config import LakeConfig
from portal.notices.models import Notice
from portal.notices.services import notices_send
from stack.servers.smtp import _Sink, messages
from tests.component.conftest import People
from tests.component.lifecycle.scanned import LOGS, ORDERS, PICTURE, scan, set_mode
from tests.support.scan_results import Item

pytestmark = pytest.mark.django_db
TODAY = date(2026, 11, 20)


@pytest.fixture
def mailbox(tmp_path: Path, settings: Any) -> Iterator[Path]:
    """A real SMTP server; its mails become files in the folder given."""
    mail = tmp_path / "mail"
    mail.mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", port
    settings.LAKEWARDEN_DIRECTORY = tmp_path / "directory.json"
    settings.LAKEWARDEN_BASE_URL = "http://portal.example:8000"
    controller = Controller(_Sink(mail), hostname="127.0.0.1", port=port)
    controller.start()
    yield mail
    controller.stop()


def send(now: datetime, today: date = TODAY) -> None:
    notices_send(now=now, today=today)


def body(message: EmailMessage, kind: str) -> str:
    part = message.get_body((kind,))
    assert part is not None
    return str(part.get_content())


def test_an_owner_gets_one_mail_a_day_whose_link_opens_their_exact_list(
    lake: LakeConfig, people: People, mailbox: Path, now: datetime, client: Client
) -> None:
    set_mode("sales", "NOTIFY")
    DatabaseAdministrator.objects.create(lake="main", db="sales", username="dora")
    scan(lake, now=now)
    scan(lake, now=now + timedelta(hours=1))
    send(now + timedelta(hours=1))
    send(now + timedelta(hours=1))

    (mail,) = messages(mailbox, to="olga@example.org")
    assert len(messages(mailbox, to="dora@example.org")) == 1
    assert mail["Subject"] == "[Lakewarden] Your data in 1 table expires by 2026-11-27"
    url = "http://portal.example:8000/lifecycle/expiring/?lake=main&show=week&person=olga"
    assert url in body(mail, "plain")
    assert escape(url) in body(mail, "html")
    assert "sales.orders" in body(mail, "html")

    client.force_login(people.owner)
    page = client.get("/lifecycle/expiring/?lake=main&show=week&person=olga")
    assert [str(row) for row in page.context["page"].rows] == ["sales.orders"]


def test_only_notify_and_act_databases_are_written_about(
    lake: LakeConfig, people: People, mailbox: Path, now: datetime
) -> None:
    scan(lake, now=now)
    assert not Notice.objects.exists()

    set_mode("sales", "ACT")
    scan(lake, now=now)
    assert {notice.recipient for notice in Notice.objects.all()} == {"olga"}


def test_a_notice_counts_only_once_it_is_sent(
    lake: LakeConfig, people: People, mailbox: Path, now: datetime, settings: Any
) -> None:
    set_mode("sales", "NOTIFY")
    scan(lake, now=now)
    assert NoticeCoverage.objects.get().sent_on is None
    assert coverages_of(current_generation("main")) == {}

    port, settings.EMAIL_PORT = settings.EMAIL_PORT, 1
    send(now)
    assert coverages_of(current_generation("main")) == {}

    settings.EMAIL_PORT = port
    send(now + timedelta(minutes=10))
    (coverage,) = coverages_of(current_generation("main"))[ORDERS.tbl_id]
    assert coverage.sent_on == TODAY
    assert coverage.horizon_on == TODAY + timedelta(days=7)
    assert (coverage.level, coverage.ttl) == (1, 60)
    assert coverage.as_of == coverage.read_at == now


def test_the_next_day_is_quiet_until_something_new_comes_due(
    lake: LakeConfig, people: People, mailbox: Path, now: datetime
) -> None:
    set_mode("sales", "NOTIFY")
    scan(lake, now=now)
    send(now)
    tomorrow = now + timedelta(days=1)

    scan(lake, now=tomorrow)
    assert Notice.objects.count() == 1

    more = Item(ExpiryClass.SOON, "dt=2026-09-29", datetime(2026, 9, 29, tzinfo=now.tzinfo))
    grown = replace(ORDERS, items=(*ORDERS.items, more))
    scan(lake, replace(PICTURE, tables=(grown,)), now=tomorrow)
    assert Notice.objects.count() == 2


def test_a_second_scan_of_a_day_never_covers_more_than_the_mail_said(
    lake: LakeConfig, people: People, mailbox: Path, now: datetime
) -> None:
    set_mode("sales", "NOTIFY")
    set_mode("web", "NOTIFY")
    scan(lake, replace(PICTURE, tables=(ORDERS,)), now=now)
    later = replace(LOGS, owner="olga")
    scan(lake, replace(PICTURE, tables=(ORDERS, later)), now=now + timedelta(hours=2))
    send(now + timedelta(hours=2))

    assert set(coverages_of(current_generation("main"))) == {ORDERS.tbl_id}
    notice = Notice.objects.get(recipient="olga")
    assert "web.logs" not in notice.text


def test_an_owner_whom_nobody_knows_is_answered_for(
    lake: LakeConfig, people: People, mailbox: Path, now: datetime
) -> None:
    orphan = replace(ORDERS, owner="ghost")
    picture = replace(PICTURE, tables=(orphan,))
    set_mode("sales", "NOTIFY")
    scan(lake, picture, now=now)
    assert set(Notice.objects.values_list("recipient", flat=True)) == {"ada", "ben", "cem"}
    assert NoticeCoverage.objects.count() == 3

    DatabaseAdministrator.objects.create(lake="main", db="sales", username="dora")
    new = Item(ExpiryClass.SOON, "dt=2026-10-03", datetime(2026, 10, 3, tzinfo=now.tzinfo))
    grown = replace(orphan, items=(*orphan.items, new))
    scan(lake, replace(picture, tables=(grown,)), now=now + timedelta(days=7))
    late = Notice.objects.filter(day=TODAY + timedelta(days=7))
    assert [notice.recipient for notice in late] == ["dora"]


def test_a_person_without_an_address_is_not_counted_on(
    lake: LakeConfig, people: People, mailbox: Path, now: datetime
) -> None:
    User.objects.filter(username="olga").update(email="")
    DatabaseAdministrator.objects.create(lake="main", db="sales", username="dora")
    set_mode("sales", "NOTIFY")
    scan(lake, now=now)

    assert [notice.recipient for notice in Notice.objects.all()] == ["dora"]
    assert NoticeCoverage.objects.get().notice.recipient == "dora"


def test_names_from_the_lake_stay_text_in_the_mail(
    lake: LakeConfig, people: People, mailbox: Path, now: datetime
) -> None:
    nasty = replace(ORDERS, name="<script>alert(1)</script>/x")
    set_mode("sales", "NOTIFY")
    scan(lake, replace(PICTURE, tables=(nasty,)), now=now)
    send(now)

    (mail,) = messages(mailbox, to="olga@example.org")
    assert "<script>" not in body(mail, "html")
