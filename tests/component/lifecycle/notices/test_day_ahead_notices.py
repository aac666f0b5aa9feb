"""Owners are told the day before theirs may go: once, grouped, and only what a notice covers."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from django.test import Client

from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.notices.services.day_ahead import KIND, day_ahead_queue
from portal.access.models import DatabaseAdministrator, User
from portal.connectors.lake_config import LakeConfig
from portal.notices.models import Notice, NoticeState
from tests.component.conftest import People
from tests.component.lifecycle.scanned import LOGS, ORDERS, PICTURE, scan, set_mode
from tests.support.scan_results import Item

pytestmark = pytest.mark.django_db
TODAY = date(2026, 11, 20)
DAY = timedelta(days=1)


def day(config: LakeConfig, n: int, *, now: datetime, picture: object = PICTURE) -> list[Notice]:
    """Scan on day `n`, take every mail as sent on it; give the day-ahead mails of that day."""
    at = now + n * DAY
    generation = scan(config, picture, now=at)  # type: ignore[arg-type]  # any picture will do
    day_ahead_queue(generation, now=at)
    Notice.objects.filter(state=NoticeState.QUEUED).update(
        state=NoticeState.SENT, sent_at=at, sent_on=at.date()
    )
    return list(Notice.objects.filter(kind=KIND, day=at.date()).order_by("recipient"))


def test_what_was_announced_a_week_ago_is_told_once_the_day_before(
    lake: LakeConfig, people: People, now: datetime
) -> None:
    DatabaseAdministrator.objects.create(lake="main", db="sales", username="dora")
    set_mode("sales", "NOTIFY")
    told = [day(lake, n, now=now) for n in range(9)]
    assert [len(mails) for mails in told] == [0, 0, 0, 0, 0, 0, 2, 0, 0]
    mail, _ = reversed(told[6])
    assert mail.subject == "[Lakewarden] Tomorrow: your data in 1 table can be deleted"
    assert "sales.orders | dt=2026-08-01 | 1" in mail.text
    assert str(TODAY + 7 * DAY) in mail.text
    assert "dt=2026-08-03" not in mail.text, "still read: it stays"
    assert [one.recipient for one in told[6]] == ["dora", "olga"]


def test_a_missed_day_is_told_late_not_never(
    lake: LakeConfig, people: People, now: datetime
) -> None:
    set_mode("sales", "NOTIFY")
    assert [len(day(lake, n, now=now)) for n in (0, 3, 9, 10)] == [0, 0, 1, 0]


def test_a_notice_that_was_never_sent_lets_nothing_go(
    lake: LakeConfig, people: People, now: datetime
) -> None:
    set_mode("sales", "NOTIFY")
    scan(lake, now=now)
    Notice.objects.update(state=NoticeState.FAILED)
    generation = scan(lake, now=now + 6 * DAY)
    assert day_ahead_queue(generation, now=now) == 0


def test_a_second_scan_of_the_day_writes_no_second_mail(
    lake: LakeConfig, people: People, now: datetime
) -> None:
    set_mode("sales", "NOTIFY")
    day(lake, 0, now=now)
    assert len(day(lake, 6, now=now)) == 1
    assert len(day(lake, 6, now=now)) == 1


def test_one_mail_a_person_with_all_their_tables(
    lake: LakeConfig, people: People, now: datetime
) -> None:
    set_mode("sales", "NOTIFY")
    set_mode("web", "ACT")
    picture = replace(PICTURE, tables=(ORDERS, replace(LOGS, owner="olga")))
    day(lake, 0, now=now, picture=picture)
    (mail,) = day(lake, 6, now=now, picture=picture)
    assert "your data in 2 tables" in mail.subject
    assert "web.logs | the whole table | 1" in mail.text


@pytest.mark.parametrize("way", ["left", "no address", "line break"])
def test_of_an_owner_who_cannot_be_written_to_others_are_told_and_why(
    lake: LakeConfig, people: People, now: datetime, way: str
) -> None:
    changes: dict[str, dict[str, object]] = {
        "left": {"is_active": False},
        "no address": {"email": ""},
        "line break": {"email": "olga@example.org\r\nBcc: eve@example.org"},
    }
    User.objects.filter(username="olga").update(**changes[way])
    set_mode("sales", "NOTIFY")
    day(lake, 0, now=now)
    mails = day(lake, 6, now=now)
    assert [mail.recipient for mail in mails] == ["ada", "ben", "cem"]
    assert "Nobody can write to olga (of sales.orders)" in mails[0].text
    week_ahead = Notice.objects.filter(kind="lifecycle.week_ahead")
    assert {mail.recipient for mail in week_ahead} == {"ada", "ben", "cem"}
    assert all("nobody can write to olga" in mail.text for mail in week_ahead)


def test_the_database_owner_comes_before_the_admins(
    lake: LakeConfig, people: People, now: datetime
) -> None:
    User.objects.filter(username="olga").update(is_active=False)
    set_mode("sales", "NOTIFY")
    picture = replace(PICTURE, owners={"sales": "dora", "web": "wanda"})
    day(lake, 0, now=now, picture=picture)
    assert [mail.recipient for mail in day(lake, 6, now=now, picture=picture)] == ["dora"]


def test_names_from_the_lake_stay_text_and_the_link_opens_the_list(
    lake: LakeConfig, people: People, now: datetime, client: Client
) -> None:
    item = Item(ExpiryClass.CLEAN_NOW, "dt=<b>x</b>", datetime(2026, 8, 1, tzinfo=UTC))
    set_mode("sales", "NOTIFY")
    picture = replace(PICTURE, tables=(replace(ORDERS, items=(item,)),))
    day(lake, 0, now=now, picture=picture)
    (mail,) = day(lake, 6, now=now, picture=picture)
    assert "<b>x</b>" not in mail.html
    assert "dt=&lt;b&gt;x" in mail.html
    client.force_login(people.owner)
    page = client.get("/lifecycle/expiring/?lake=main&show=week&person=olga")
    assert "/lifecycle/expiring/?lake=main&show=week&person=olga" in mail.text
    assert [str(row) for row in page.context["page"].rows] == ["sales.orders"]
