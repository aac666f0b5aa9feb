"""One number for what waits for an owner's answer, and an answer that is seen at once."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from lifecycle.backup.domain.states import HoldKind
from lifecycle.backup.services.holds import hold_place
from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.inventory.ui.nav import due_card, paths_card, soon_card, waiting_card
from lifecycle.models import ScanSnapshot
from lifecycle.notices.services.daily_report import REPORT, daily_report_queue
from lifecycle.notices.services.week_ahead import week_ahead_queue
from portal.access.models import User
from portal.connectors.lake_config import LakeConfig
from portal.notices.models import Notice
from tests.component.conftest import People
from tests.component.lifecycle.scanned import PICTURE, scan, set_mode
from tests.support.scan_results import Item, Picture, Table

pytestmark = pytest.mark.django_db

NOTES = Table(
    "lab", "notes", 31, owner="olga",
    items=(Item(ExpiryClass.CLEAN_NOW, "", datetime(2026, 8, 1, tzinfo=UTC), size=70),),
)  # fmt: skip
LAKE_SEEN = Picture(
    owners={**PICTURE.owners, "lab": "lara"}, tables=(*PICTURE.tables, NOTES), findings=()
)
ORDERS = "/tables/sales/orders/lifecycle/"
ITEMS = "/tables/sales/orders/partitions/"


@pytest.fixture
def picture(lake: LakeConfig, people: People) -> ScanSnapshot:
    """A scan of now: `sales` notifies, `lab` is only observed."""
    set_mode("sales", "NOTIFY")
    return scan(lake, LAKE_SEEN, now=timezone.now() - timedelta(minutes=5))


@pytest.fixture
def olga(people: People) -> Client:
    client = Client()
    client.force_login(people.owner)
    return client


def keep(people: People, *, partition: str) -> None:
    now = timezone.now()
    hold_place(
        lake="main", name=("sales", "orders", partition), kind=HoldKind.EXTENSION,
        until=now + timedelta(days=30), reason="the audit needs it", user=people.owner, now=now,
    )  # fmt: skip


def card(client: Client) -> Any:
    cards = client.get("/").context["waiting"]
    return next((one for one in cards if "needs an answer" in one.title), None)


def api(client: Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/api/v1/lifecycle/needs-answer/").json()
    return found


def test_home_mail_report_list_and_api_count_the_same(
    picture: ScanSnapshot, people: People, olga: Client
) -> None:
    week_ahead_queue(picture, now=timezone.now())
    daily_report_queue(picture, now=timezone.now())

    mail = Notice.objects.get(kind="lifecycle.week_ahead", recipient="olga")
    report = Notice.objects.get(kind=REPORT, recipient="olga")
    shown, told = card(olga), api(olga)
    rows = olga.get("/lifecycle/expiring/?show=week&person=olga&mode=NOTIFY").context["page"].rows
    listed = sum(row.n_clean_now + row.n_soon + row.n_still_read for row in rows)

    assert listed == told["waiting"]["n_items"] == 3
    assert shown.value == "3"
    assert "3 items in 1 table" in mail.text
    assert "3 upcoming" in report.subject
    assert "1 due now, 1 due soon, 1 due but recently read" in report.text
    assert "1 due now, 1 due soon, 1 due but recently read" in shown.detail
    assert "1 more is in a database in Monitor only" in shown.detail
    assert told["observed"]["n_items"] == 1


def test_bytes_of_recently_read_items_are_counted_with_their_items(
    picture: ScanSnapshot, people: People, olga: Client
) -> None:
    rows = olga.get("/lifecycle/expiring/?show=week&person=olga&mode=NOTIFY").context["page"].rows
    known = sum(row.bytes_clean_now + row.bytes_soon + row.bytes_still_read for row in rows)
    assert api(olga)["waiting"]["n_bytes"] == known > 0


def test_a_kept_table_is_seen_as_kept_everywhere_before_the_next_scan(
    picture: ScanSnapshot, people: People, olga: Client
) -> None:
    keep(people, partition="")

    page = olga.get(ORDERS)
    listed = olga.get("/lifecycle/expiring/?table=orders")
    answer: Any = olga.get("/lifecycle/expiring/?table=orders&format=csv")
    exported = b"".join(answer.streaming_content)
    one = olga.get("/api/v1/lifecycle/tables/sales/orders/").json()

    assert "the audit needs it" in page.content.decode()
    items = olga.get(ITEMS)
    assert all(row.kept.is_whole for row in items.context["page"].rows)
    assert listed.context["page"].rows[0].kept.is_whole
    assert "on hold, until" in exported.decode()
    assert one["kept"]["is_whole"]
    assert card(olga) is None
    assert api(olga)["waiting"]["n_items"] == 0
    assert api(olga)["kept"]["n_items"] == 3


def test_many_partitions_on_hold_for_one_reason_are_one_line_on_every_tab(
    picture: ScanSnapshot, people: People, olga: Client
) -> None:
    now = timezone.now()
    for day in range(1, 8):
        hold_place(
            lake="main", name=("sales", "orders", f"dt=2026-08-0{day}"), kind=HoldKind.RESTORE,
            until=now + timedelta(days=30), reason="restored by run 1", user=people.owner, now=now,
        )  # fmt: skip
    keep(people, partition="dt=2026-09-24")
    for tab in ("", "lifecycle/"):
        text = olga.get(f"/tables/sales/orders/{tab}").content.decode()
        assert text.count("restored by run 1") == 1, tab
        assert "7 partitions" in text, tab
        assert "dt=2026-08-01 to dt=2026-08-07" in re.sub("<.*?>", "", text), tab
        assert text.count("the audit needs it") == 1, tab


def test_a_kept_partition_is_taken_off_the_count_and_the_others_stay(
    picture: ScanSnapshot, people: People, olga: Client
) -> None:
    keep(people, partition="dt=2026-08-01")

    rows = {row.partition: row.kept for row in olga.get(ITEMS).context["page"].rows}

    assert rows["dt=2026-08-01"].is_whole
    assert not rows["dt=2026-09-24"].is_on_hold
    assert olga.get("/lifecycle/expiring/?table=orders").context["page"].rows[0].kept.n_parts == 1
    assert card(olga).value == "2"
    assert api(olga)["waiting"]["n_clean_now"] == 0


def test_a_hold_of_somebody_elses_table_changes_nothing_here(
    picture: ScanSnapshot, people: People, olga: Client
) -> None:
    now = timezone.now()
    hold_place(
        lake="main", name=("web", "logs", ""), kind=HoldKind.LEGAL, until=None,
        reason="court", user=people.admin, now=now,
    )  # fmt: skip
    assert card(olga).value == "3"


def test_a_request_that_waits_stands_on_the_table(
    picture: ScanSnapshot, people: People, olga: Client
) -> None:
    answer = olga.post(
        "/lifecycle/policy-requests/new/",
        {"kind": "HAND_OVER", "db": "sales", "table": "orders", "seen_owner": "olga",
         "owner": "dora", "reason": "she runs it now"},
    )  # fmt: skip
    assert answer.status_code == 302, answer.content.decode()[:2000]
    assert "waits for an answer" in olga.get(ORDERS).content.decode()
    assert olga.get("/lifecycle/expiring/?table=orders").context["page"].rows[0].kept.n_pending == 1


@pytest.mark.parametrize(
    ("address", "sent"),
    [
        ("/lifecycle/wishes/new/", {}),
        (
            "/lifecycle/policy-requests/new/",
            {"kind": "HAND_OVER", "seen_owner": "olga", "owner": "dora"},
        ),
    ],
    ids=("let go", "handed over"),
)
def test_what_an_owner_answered_needs_no_answer_while_it_waits_for_others(
    picture: ScanSnapshot, people: People, olga: Client, address: str, sent: dict[str, str]
) -> None:
    keep(people, partition="dt=2026-08-01")
    answer = olga.post(address, {"db": "sales", "table": "orders", "reason": "not used", **sent})
    assert answer.status_code == 302, answer.content.decode()[:2000]
    assert card(olga) is None
    told = api(olga)
    assert (told["waiting"]["n_items"], told["kept"]["n_items"]) == (0, 0)
    assert told["answered"]["n_items"] == 3


def test_paths_that_no_mail_names_are_counted_apart(lake: LakeConfig, people: People) -> None:
    set_mode("sales", "OBSERVE")
    scan(lake, PICTURE, now=timezone.now())
    paul, admin = Client(), Client()
    paul.force_login(User.objects.create_user("paul"))
    admin.force_login(people.admin)
    page = paul.get("/lifecycle/paths/")
    assert (page.context["scope"].n_reported, page.context["scope"].n_observed) == (0, 1)
    assert len(page.context["page"].rows) == 1
    assert "1 in databases in Monitor only" in page.content.decode()

    set_mode("sales", "NOTIFY")
    scope = paul.get("/lifecycle/paths/").context["scope"]
    assert (scope.n_reported, scope.n_observed) == (1, 0)
    assert admin.get("/lifecycle/paths/").context["scope"] is None


def test_a_database_does_not_conform_for_its_tables(lake: LakeConfig, people: People) -> None:
    scan(lake, PICTURE, now=timezone.now())
    admin = Client()
    admin.force_login(people.admin)
    rows = {row.db: row for row in admin.get("/lifecycle/databases/").context["page"].rows}
    assert (rows["sales"].reasons, rows["sales"].n_paths_below) == ([], 1)
    text = admin.get("/lifecycle/databases/sales/").content.decode()
    assert "database conforms" in text
    assert "1 path in it does not" in text


@pytest.mark.parametrize("who", ["owner", "admin"])
def test_the_cards_of_home_read_the_picture_once(
    picture: ScanSnapshot, people: People, who: str, rf: RequestFactory
) -> None:
    request = rf.get("/")
    request.user = getattr(people, who)
    pointer = 'FROM "lifecycle_latestscan" INNER JOIN'
    with CaptureQueriesContext(connection) as asked:
        cards = [make(request) for make in (waiting_card, paths_card, due_card, soon_card)]
    assert sum(pointer in one["sql"] for one in asked.captured_queries) == 1
    assert [card is not None for card in cards] == [who == "owner", True, True, True]
