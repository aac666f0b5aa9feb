"""The calendar: only what a person may see, by page, API and a secret address that can be ended."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from lifecycle.expiry.domain.rule import ExpiryClass
from portal.access.models import User
from portal.audit.models import AuditEvent
from portal.connectors.lake_config import LakeConfig
from portal.notices.models import CalendarAddress
from tests.component.conftest import People
from tests.component.lifecycle.notices.test_daily_report import dropped
from tests.component.lifecycle.scanned import LOGS, ORDERS, PICTURE, scan
from tests.support.icalendar import read_calendar
from tests.support.scan_results import Item

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def made(user: User) -> str:
    return str(client_of(user).post(reverse("lifecycle-api:calendar")).json()["url"])


def read(url: str) -> list[dict[str, str]]:
    """Read the file as a calendar program does: not signed in."""
    answer = Client().get(url)
    assert answer["Content-Type"] == "text/calendar; charset=utf-8"
    assert answer["Cache-Control"].startswith("private")
    return read_calendar(answer.content)[1]


@pytest.fixture
def scanned(lake: LakeConfig, people: People) -> None:
    """Olga's table has something due now and in ten days; paul's something due now."""
    now = timezone.now()
    items = (
        Item(ExpiryClass.CLEAN_NOW, "dt=a, b;c", now - 100 * DAY),
        Item(ExpiryClass.NOT_NOW, "dt=e", now - 50 * DAY),
        Item(ExpiryClass.KEEP_FOREVER, "dt=f", now - 50 * DAY),
    )
    logs = replace(LOGS, items=(Item(ExpiryClass.CLEAN_NOW, "", now - 100 * DAY),))
    scan(lake, replace(PICTURE, tables=(replace(ORDERS, items=items), logs)), now=now)
    dropped(now - DAY, purge_after=now + 14 * DAY)
    dropped(now - DAY, db="web", table="logs", table_owner="paul", purge_after=now + 14 * DAY)


@pytest.mark.usefixtures("scanned")
def test_a_person_reads_what_they_may_see_and_nothing_of_anybody_else(people: People) -> None:
    now = timezone.now()
    due_now, due_later, purge = read(made(people.owner))
    assert due_now["SUMMARY"] == "sales.orders: 1 item due"
    assert due_now["DTSTART"] == f"{now:%Y%m%d}"
    assert due_now["DESCRIPTION"].startswith("dt=a, b;c\nDue since ")
    assert due_later["DTSTART"] > due_now["DTSTART"]
    assert purge["SUMMARY"] == f"sales.orders: backup of {now - DAY:%Y-%m-%d} is purged"
    assert len(read(made(people.admin))) == 5
    assert read(made(people.stranger)) == []
    text = str(read(made(people.admin)))
    assert not any(name in text for name in ("olga", "paul", "@example"))


@pytest.mark.usefixtures("scanned")
def test_page_api_and_file_say_the_same(people: People) -> None:
    client = client_of(people.owner)
    rows = client.get(reverse("lifecycle-api:calendar")).json()
    assert [row["uid"] for row in rows] == [event["UID"] for event in read(made(people.owner))]
    page = client.get(reverse("lifecycle:calendar"))
    assert [event.uid for event in page.context["table"].rows] == [row["uid"] for row in rows]
    for row in rows:
        assert client.get(row["url"], follow=True).status_code == 200
    empty = client_of(people.stranger).get(reverse("lifecycle:calendar"))
    assert "Nothing is due" in empty.content.decode()


@pytest.mark.usefixtures("scanned")
def test_a_new_address_ends_the_old_one_and_only_its_hash_is_kept(people: People) -> None:
    old = made(people.owner)
    page = client_of(people.owner).post(reverse("lifecycle:calendar-make"))
    assert "no-store" in page["Cache-Control"]
    new = page.context["address"]
    assert new in page.content.decode()
    assert Client().get(old).status_code == 404
    assert len(read(new)) == 3
    secret = new.partition("calendar/")[2].partition("/")[0]
    assert len(secret) >= 43
    assert secret not in str(CalendarAddress.objects.values())
    assert secret not in str(list(AuditEvent.objects.values()))
    assert secret not in client_of(people.owner).get(reverse("lifecycle:calendar")).content.decode()
    made_events = AuditEvent.objects.filter(action="calendar.address_made")
    assert made_events.count() == 2


@pytest.mark.usefixtures("scanned")
def test_an_address_dies_when_it_is_ended_and_when_its_person_leaves(people: People) -> None:
    url, other = made(people.owner), made(people.admin)
    assert client_of(people.owner).post(reverse("lifecycle:calendar-end")).status_code == 302
    assert Client().get(url).status_code == 404
    ended = client_of(people.owner).post(reverse("lifecycle-api:calendar-end")).json()
    assert ended == {"ended": False}
    User.objects.filter(pk=people.admin.pk).update(is_active=False)
    assert Client().get(other).status_code == 404
    assert Client().get(reverse("lifecycle:calendar-feed", args=["x" * 43])).status_code == 404


def test_runs_of_one_table_in_one_class_are_one_thing_that_goes(
    lake: LakeConfig, people: People
) -> None:
    now = timezone.now()
    items = (
        Item(ExpiryClass.CLEAN_NOW, "country=at/yr=2025", now - 100 * DAY),
        Item(ExpiryClass.NOT_NOW, "country=at/yr=2026", now - 50 * DAY),
        Item(ExpiryClass.CLEAN_NOW, "country=de/yr=2025", now - 90 * DAY),
        Item(ExpiryClass.NOT_NOW, "country=de/yr=2026", now - 49 * DAY),
    )
    scan(lake, replace(PICTURE, tables=(replace(ORDERS, items=items),)), now=now)
    due_now, due_later = read(made(people.owner))
    assert due_now["SUMMARY"] == due_later["SUMMARY"] == "sales.orders: 2 items due"
    assert due_now["DESCRIPTION"].startswith("country=at/yr=2025 to country=de/yr=2025\nDue since ")
    assert due_later["DTEND"] > due_later["DTSTART"] > due_now["DTSTART"]


def test_only_what_is_due_within_the_days_is_counted(lake: LakeConfig, people: People) -> None:
    now = timezone.now()
    items = tuple(
        Item(ExpiryClass.NOT_NOW, f"dt={n:03d}", now - 59 * DAY + n * DAY)
        for n in range(0, 300, 10)
    )
    scan(lake, replace(PICTURE, tables=(replace(ORDERS, items=items),)), now=now)
    (event,) = read(made(people.owner))
    n_within = sum(n + 1 <= 90 for n in range(0, 300, 10))
    assert event["SUMMARY"] == f"sales.orders: {n_within} items due"
    assert event["DTEND"] <= f"{now + 91 * DAY:%Y%m%d}"
    assert "The range goes on to " in event["DESCRIPTION"]
