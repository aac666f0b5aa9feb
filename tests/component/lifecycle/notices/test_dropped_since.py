"""What was dropped since the scan is not called due any more, and is when it has come back."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from lifecycle.backup.domain.states import HoldKind
from lifecycle.backup.models import BackupBatch
from lifecycle.backup.services.holds import hold_place
from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.inventory.domain.due_totals import Due, Gone, dropped_part
from lifecycle.models import (
    DeletionRequest,
    DropPlan,
    DropPlanTable,
    NoticeCoverage,
    PolicyRequest,
    ScanSnapshot,
)
from lifecycle.notices.services.daily_report import REPORT, daily_report_queue
from lifecycle.notices.services.day_ahead import KIND as DAY_AHEAD
from lifecycle.notices.services.day_ahead import day_ahead_queue
from lifecycle.notices.services.week_ahead import week_ahead_queue
from portal.access.services import person_create
from portal.audit.services import audit_record
from portal.connectors.lake_config import LakeConfig
from portal.notices.models import Notice
from tests.component.conftest import People
from tests.component.lifecycle.scanned import LOGS, PICTURE, scan, set_mode
from tests.component.lifecycle.scanned import ORDERS as ORDERS_TABLE
from tests.support.scan_results import Item

pytestmark = pytest.mark.django_db

ORDERS = "/tables/sales/orders/lifecycle/"
ITEMS = "/tables/sales/orders/partitions/"
LIST = "/lifecycle/expiring/?table=orders"
WHY = "/lifecycle/tables/sales/orders/why/?partition="
CLEAN, READ = "dt=2026-08-01", "dt=2026-08-03"


@pytest.fixture
def picture(lake: LakeConfig, people: People) -> ScanSnapshot:
    """A scan of five minutes ago in a database that acts: one item due, one soon, one read."""
    set_mode("sales", "ACT")
    return scan(lake, now=timezone.now() - timedelta(minutes=5))


@pytest.fixture
def olga(people: People) -> Client:
    return signed_in(people.owner)


def person(name: str) -> Any:
    return person_create(name, password="correct horse staple", email=f"{name}@example.org")


def signed_in(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def drop(*partitions: str, table: str = "orders", db: str = "sales", n_read: int = 0) -> None:
    """Store a batch and its record as a run that dropped these items leaves them."""
    now = timezone.now()
    plan = DropPlan.objects.create(
        lake="main", state="DONE", requested_by="anna", created_at=now, n_items=len(partitions),
        digest="0" * 64, items_sha256="0" * 64,
    )  # fmt: skip
    DropPlanTable.objects.create(
        plan=plan, lake="main", db=db, table=table, tbl_id=11, kind="PARTITION",
        n_items=len(partitions), n_still_read=n_read, digest="0" * 64,
    )  # fmt: skip
    BackupBatch.objects.create(
        lake="main", run_id=uuid4(), epoch=1, db=db, table=table, batch=1, day=now.date(),
        root="file:///b", path="file:///b/1", state="DROPPED", is_table=False,
        table_owner="olga", plan_id=str(plan.pk), n_items=len(partitions), n_bytes=10,
        manifest_sha256="0" * 64, dropped_at=now, purge_after=now + timedelta(days=15),
    )  # fmt: skip
    for one in partitions:
        record("item.dropped", one, table=table, db=db)


def record(action: str, partition: str, *, table: str = "orders", db: str = "sales") -> None:
    name = f"{db}.{table}/{partition}" if partition else f"{db}.{table}"
    audit_record(
        action, actor="anna", lake="main", object_type="item", object_id=name, data={},
        now=timezone.now(),
    )  # fmt: skip


def restore(partition: str, *, n: int = 1) -> None:
    BackupBatch.objects.update(n_restored=n, state="RESTORED" if n else "DROPPED")
    record("item.restored" if n else "item.restore_undone", partition)


def api(client: Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/api/v1/lifecycle/needs-answer/").json()
    return found


def home(client: Client) -> Any:
    cards = client.get("/").context["waiting"]
    return next((one for one in cards if "needs an answer" in one.title), None)


def row(client: Client) -> Any:
    return client.get(LIST).context["page"].rows[0]


def calendar(client: Client) -> list[str]:
    rows = client.get("/api/v1/lifecycle/calendar/").json()
    return [one["summary"] for one in rows if one["summary"].endswith("due")]


def test_every_place_leaves_out_what_was_dropped(
    picture: ScanSnapshot, people: People, olga: Client
) -> None:
    before = calendar(olga)
    NoticeCoverage.objects.all().delete()
    Notice.objects.all().delete()  # those that the scan itself queued
    drop(CLEAN)
    week_ahead_queue(picture, now=timezone.now())
    daily_report_queue(picture, now=timezone.now())

    shown, told, listed = home(olga), api(olga), row(olga)
    one = olga.get("/api/v1/lifecycle/tables/sales/orders/").json()
    exported: Any = olga.get(f"{LIST}&format=csv")
    totals = olga.get(LIST).context["totals"]
    mail = Notice.objects.get(kind="lifecycle.week_ahead", recipient="olga")
    report = Notice.objects.get(kind=REPORT, recipient="olga")
    planned = signed_in(people.admin).get("/lifecycle/plans/new/").context["rows"]
    table = olga.get(ORDERS).context["found"]

    assert (shown.value, told["waiting"]["n_items"], told["dropped"]["n_items"]) == ("2", 2, 1)
    assert "1 more was dropped since the last scan" in shown.detail
    for counted in (listed, totals, table, planned[0][0]):
        assert (counted.n_clean_now, counted.bytes_clean_now) == (0, 0)
        assert counted.n_still_read == 1
    assert (one["n_clean_now"], one["kept"]["n_dropped"]) == (0, 1)
    assert "1 dropped since the scan, in backup" in b"".join(exported.streaming_content).decode()
    assert "2 items in 1 table" in mail.text
    assert "1 due soon, 1 due but recently read" in report.text
    assert "1 due now" not in report.text
    assert len(calendar(olga)) == len(before) - 1
    database = signed_in(people.admin).get("/lifecycle/databases/sales/").context["found"]
    assert database.n_clean_now == 0


@pytest.mark.parametrize("show", ["CLEAN_NOW", "week"])
def test_a_filter_leaves_out_a_table_of_which_all_that_was_due_is_dropped(
    picture: ScanSnapshot, people: People, show: str
) -> None:
    set_mode("web", "ACT")
    paul, admin = signed_in(person("paul")), signed_in(people.admin)
    page, address = f"/lifecycle/expiring/?show={show}", f"/api/v1/lifecycle/tables/?show={show}"

    def names() -> list[list[str]]:
        shown = [str(one) for one in admin.get(page).context["page"].rows]
        told = [f"{one['db']}.{one['table']}" for one in admin.get(address).json()["results"]]
        lines: Any = admin.get(f"{page}&format=csv")
        text = b"".join(lines.streaming_content).decode()
        exported = [one for one in ("sales.orders", "web.logs") if one.replace(".", ",") in text]
        return [sorted(shown), sorted(told), exported]

    assert names() == [["sales.orders", "web.logs"]] * 3
    drop("", table="logs", db="web")
    assert names() == [["sales.orders"]] * 3
    assert [str(one) for one in paul.get(page).context["page"].rows] == []
    drop(CLEAN)
    left = ["sales.orders"] if show == "week" else []
    assert names() == [left] * 3


def test_the_day_ahead_mail_leaves_out_what_was_dropped(lake: LakeConfig, people: People) -> None:
    set_mode("sales", "NOTIFY")
    items = tuple(
        Item(ExpiryClass.CLEAN_NOW, f"dt=2026-08-0{day}", datetime(2026, 8, day, tzinfo=UTC))
        for day in (1, 2, 4)
    )
    several = replace(PICTURE, tables=(replace(ORDERS_TABLE, items=items), LOGS))
    now = timezone.now()
    for days in (8, 0):
        at = now - timedelta(days=days, minutes=1)
        newest = scan(lake, several, now=at)
        Notice.objects.filter(state="QUEUED").update(state="SENT", sent_at=at, sent_on=at.date())
    Notice.objects.filter(kind=DAY_AHEAD).delete()  # those that the scan itself queued
    drop("dt=2026-08-01", "dt=2026-08-04")
    day_ahead_queue(newest, now=now)
    mail = Notice.objects.get(kind=DAY_AHEAD, recipient="olga")
    assert (
        "sales.orders | dt=2026-08-01 to dt=2026-08-04 | 1 (2 dropped since the scan)" in mail.text
    )

    Notice.objects.filter(kind=DAY_AHEAD).delete()
    drop("dt=2026-08-02")
    assert day_ahead_queue(newest, now=now) == 0


ASKED = {
    "extend": ("/api/v1/lifecycle/policy-requests/", "/lifecycle/policy-requests/new/"),
    "clean": ("/api/v1/lifecycle/wishes/", "/lifecycle/wishes/new/"),
}


@pytest.mark.parametrize("asked", list(ASKED))
def test_nothing_can_be_asked_about_what_was_dropped(
    picture: ScanSnapshot, olga: Client, lake: LakeConfig, asked: str
) -> None:
    body = {"db": "sales", "table": "orders", "partition": CLEAN, "reason": "needed"}
    if asked == "extend":
        until = timezone.localdate(timezone=lake.zone) + timedelta(days=30)
        body |= {"kind": "EXTEND", "days": "30", "until": until.isoformat()}
    address, page = ASKED[asked]
    drop(CLEAN)
    for found in (olga.post(address, body, content_type="application/json"), olga.post(page, body)):
        text = found.content.decode()
        assert found.status_code == 409
        assert f"sales.orders/{CLEAN} was dropped" in text
        assert "Restore it" in text
    told = olga.post(address, body, content_type="application/json").json()
    assert told["code"] == "item.dropped"
    assert not PolicyRequest.objects.exists()
    assert not DeletionRequest.objects.exists()
    # What stands of the table can still be asked about, and all of it once it came back.
    for again in ({**body, "partition": READ}, body):
        if again is body:
            restore(CLEAN)
        assert olga.post(address, again, content_type="application/json").status_code == 201


def test_a_table_of_which_all_that_was_due_is_dropped_is_not_asked_about(
    picture: ScanSnapshot, people: People
) -> None:
    set_mode("web", "ACT")
    paul = signed_in(person("paul"))
    body = {"db": "web", "table": "logs", "reason": "needed"}
    drop("", table="logs", db="web")
    found = paul.post(ASKED["clean"][0], body, content_type="application/json")
    assert (found.status_code, found.json()["code"]) == (409, "item.dropped")
    assert "web.logs was dropped" in found.json()["message"]


def test_a_dropped_partition_wears_a_badge_and_offers_nothing(
    picture: ScanSnapshot, olga: Client
) -> None:
    offers = "confirm-extend", "confirm-clean-now"
    page = olga.get(f"{WHY}{CLEAN}").content.decode()
    assert all(one in page for one in offers)

    drop(CLEAN)

    page = olga.get(f"{WHY}{CLEAN}").content.decode()
    assert "Dropped, in backup" in page
    assert "Past its due date" not in page
    assert not any(one in page for one in offers)
    items = {one.partition: one.kept.n_dropped for one in olga.get(ITEMS).context["page"].rows}
    assert (items[CLEAN], items[READ]) == (1, 0)
    text = olga.get(ITEMS).content.decode()
    assert text.count("Dropped, in backup") == 1
    assert "1 due item was dropped since the scan" in olga.get(ORDERS).content.decode()
    assert "1 due item was dropped since the scan" in text
    assert "Dropped, in backup" not in olga.get(f"{WHY}{READ}").content.decode()


def test_what_came_back_counts_again_until_it_is_taken_back(
    picture: ScanSnapshot, olga: Client
) -> None:
    drop(CLEAN)
    restore(CLEAN)
    assert row(olga).n_clean_now == 1
    assert "Dropped, in backup" not in olga.get(f"{WHY}{CLEAN}").content.decode()

    restore(CLEAN, n=0)
    assert row(olga).n_clean_now == 0
    assert "Dropped, in backup" in olga.get(f"{WHY}{CLEAN}").content.decode()


def test_what_was_dropped_before_the_scan_changes_nothing(
    picture: ScanSnapshot, olga: Client
) -> None:
    drop(CLEAN)
    BackupBatch.objects.update(dropped_at=picture.read_at - timedelta(minutes=1))
    assert row(olga).n_clean_now == 1
    assert home(olga).value == "3"


def test_recently_read_items_are_taken_off_their_own_class(
    picture: ScanSnapshot, olga: Client
) -> None:
    drop(READ, n_read=1)
    found = api(olga)["waiting"]
    assert (found["n_clean_now"], found["n_soon"], found["n_still_read"]) == (1, 1, 0)


@pytest.mark.parametrize(("partition", "n_kept", "n_waiting"), [("", 2, 0), (CLEAN, 0, 2)])
def test_a_hold_on_what_was_dropped_takes_nothing_off_twice(
    picture: ScanSnapshot,
    people: People,
    olga: Client,
    partition: str,
    n_kept: int,
    n_waiting: int,
) -> None:
    drop(CLEAN)
    now = timezone.now()
    hold_place(
        lake="main", name=("sales", "orders", partition), kind=HoldKind.EXTENSION,
        until=now + timedelta(days=30), reason="needed", user=people.owner, now=now,
    )  # fmt: skip
    found = api(olga)
    assert [found[name]["n_items"] for name in ("waiting", "kept", "dropped")] == [
        n_waiting,
        n_kept,
        1,
    ]


def test_pages_ask_no_more_for_many_batches(picture: ScanSnapshot, olga: Client) -> None:
    def asked(url: str) -> int:
        olga.get(url)
        with CaptureQueriesContext(connection) as caught:
            olga.get(url)
        return len(caught)

    drop(CLEAN)
    urls = ("/", LIST, ORDERS, ITEMS, "/lifecycle/calendar/")
    before = [asked(url) for url in urls]
    for n in range(30):
        drop(f"x={n}", table=f"t{n}")
    assert [asked(url) for url in urls] == before


@pytest.mark.parametrize(
    ("gone", "left"),
    [
        (Gone(4, 400, 0), Due(6, 2, 3, 600, 20, 30)),
        (Gone(4, 40, 2), Due(8, 2, 1, 980, 20, 10)),
        (Gone(12, 990, 0), Due(0, 2, 1, 0, 20, 0)),
        (Gone(99, 9999, 99), Due(0, 2, 0, 0, 20, 0)),
    ],
)
def test_no_class_loses_more_than_it_had(gone: Gone, left: Due) -> None:
    due = Due(10, 2, 3, 1000, 20, 30)
    assert due - dropped_part(due, gone) == left
