"""The page, the CSV and the API of a lake's scans, and for whom they are."""

import csv
import io
import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from optimizer.advice.domain.filters import Filter, FilterKind
from optimizer.advice.domain.scan_reports import Scanned
from optimizer.fleet.services.unserved import KEPT, MOST_TABLES, unserved_look
from optimizer.iceberg.tables.services.scans import scan_report
from optimizer.models import (
    Advice,
    IcebergTable,
    PolicyVersion,
    QuerySeconds,
    ScanFilter,
    ScanShape,
    SkippedDay,
    UnservedShape,
)
from optimizer.queries.domain.latency import bucket_of, seconds_of
from portal.access.models import User
from tests.component.conftest import People
from tests.component.optimizer.cubes.cube_rows import cube
from tests.component.optimizer.optimizer_rows import MIB, iceberg

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
PAGE = "/optimizer/advice/scans/?lake=main"
API = "/api/v1/optimizer/scans/?lake=main"
BY_ID = (Filter("id", FilterKind.EQUAL),)
BY_NOTE = (Filter("note", FilterKind.CONTAINS),)


def client_of(user: User) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


def page(user: User, more: str = "") -> str:
    answer = client_of(user).get(PAGE + more)
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


def table_of(user: User, part: str) -> list[dict[str, str]]:
    answer = client_of(user).get(f"{PAGE}&format=csv&part={part}")
    assert answer["Content-Type"].startswith("text/csv")
    return list(csv.DictReader(io.StringIO(answer.getvalue().decode())))


def advised(row: IcebergTable, **values: Any) -> Advice:
    now = timezone.now()
    fields = {
        "subject": "layout", "proposed": "sort(id)", "expected": 0.25, "bytes_a_day": 4 * MIB,
        "rewrite_bytes": 9, "n_scans": 30, "n_days": 2, "evidence": {"columns": ["user:bloom"]},
        "made_at": now, "confirmed_at": now, "applied_at": now - timedelta(days=3),
        "state": "APPLIED", "n_before": 10, "bytes_before": 10 * MIB,
    }  # fmt: skip
    return Advice.objects.create(table=row, **{**fields, **values})


@pytest.fixture
def reported(people: People) -> IcebergTable:
    """Scans of two days, an index that dropped a part, and times of Trino."""
    now = timezone.now()
    row = iceberg("clicks", now=now)
    for days, files in ((0, 10), (3, 20), (20, 40)):
        one = Scanned(BY_ID, files, 10, files * MIB, "spark")
        scan_report(row, one, now=now - timedelta(days=days))
    SkippedDay.objects.create(
        lake="main", day=now.date(), cause="bloom", slot=0, n_times=1, n_files=4, n_bytes=4 * MIB
    )
    counts = {str(bucket_of(0.25)): 18, str(bucket_of(9.0)): 2}
    QuerySeconds.objects.create(lake="main", engine="trino", day=now.date(), counts=counts)
    return row


def test_a_lake_without_reports_says_how_they_come(people: People) -> None:
    text = page(people.admin)
    assert "No engine has reported a scan" in text
    assert "Commits to Iceberg tables" in text
    assert "No advice was applied yet." in text
    assert "data-lw-chart" not in text
    said = client_of(people.admin).get(API).json()
    assert (len(said["days"]), said["times"], said["savings"]["rows"]) == (28, [], [])


def test_bytes_and_times_are_shown_by_day_with_their_numbers(
    people: People, reported: IcebergTable
) -> None:
    text = page(people.operator)
    for chart in ("scanned", "skipped-share", "query-times"):
        assert f'data-lw-chart="chart-{chart}"' in text
    for words in (
        "dropped by bloom indexes",
        "left out by planning (estimate)",
        "do not tell which",
        "Trino, P50 and P95",
        f"{seconds_of(bucket_of(0.25)):.2f} s</span>",
        f"{seconds_of(bucket_of(9.0)):.2f} s</span>",
    ):
        assert words in text
    said = client_of(people.operator).get(API).json()
    today = said["days"][-1]
    assert today["read_bytes"] == 6 * MIB
    assert today["skipped"] == {"planning": 64 * MIB, "bloom": 4 * MIB}
    assert today["skipped_percent"] == pytest.approx(100 * 68 / 74)
    assert [one["n_scans"] for one in said["days"] if one["n_scans"]] == [1, 1, 1]
    (trino,) = said["engines"]
    assert (trino["n_queries"], trino["p50"]) == (20, pytest.approx(0.25, rel=0.05))
    assert trino["p95"] == pytest.approx(9.0, rel=0.05)


def test_a_period_is_in_the_address(people: People, reported: IcebergTable) -> None:
    week = page(people.admin, "&days=7")
    assert 'aria-current="true">7 days' in week
    assert len(client_of(people.admin).get(f"{API}&days=7").json()["days"]) == 7
    for address in (PAGE, API):
        answer = client_of(people.admin).get(f"{address}&days=8")
        assert answer.status_code == 400
        assert "7 or 28" in answer.content.decode()


def test_csv_has_the_same_numbers(people: People, reported: IcebergTable) -> None:
    days = table_of(people.admin, "days")
    assert len(days) == 28
    assert (days[-1]["planned_bytes"], days[-1]["skipped.bloom"]) == (str(10 * MIB), str(4 * MIB))
    assert days[-2]["n_scans"] == "0"
    (times,) = table_of(people.admin, "times")
    assert (times["engine"], times["n_queries"]) == ("trino", "20")
    advised(reported)
    (saving,) = table_of(people.admin, "savings")
    assert (saving["advice.table"], saving["expected_a_day"]) == ("shop.clicks", str(3 * MIB))
    unserved_look("main", now=timezone.now())
    (shape,) = table_of(people.admin, "unserved")
    assert (shape["table"], shape["filters"]) == ("shop.clicks", "id =")
    assert table_of(people.admin, "nonsense") == days


def test_the_ledger_adds_up_what_holds_and_is_measured(
    people: People, reported: IcebergTable
) -> None:
    since = timezone.now() - timedelta(days=1)
    paid = advised(reported, measured_from=since, n_after=20, bytes_after=4 * MIB)
    advised(iceberg("views", now=since), subject="index_columns", proposed="id, user:bloom")
    gone = {"state": "ROLLED_BACK", "is_open": None}
    advised(iceberg("old", now=since), **gone, measured_from=since, n_after=9, bytes_after=99 * MIB)
    advised(iceberg("new", now=since), state="NEW", applied_at=None)
    ledger = client_of(people.admin).get(API).json()["savings"]
    assert (ledger["n_applied"], ledger["n_measured"]) == (2, 1)
    assert ledger["expected_a_day"] == 6 * MIB
    # 20 scans in two days would have planned 20 MiB and planned 4.
    assert ledger["measured_a_day"] == 8 * MIB
    assert {one["table"]: one["measured_a_day"] for one in ledger["rows"]} == {
        "shop.clicks": 8 * MIB,
        "shop.views": None,
        "shop.old": -45 * MIB,
    }
    text = page(people.admin)
    assert f'href="/optimizer/advice/{paid.pk}/"' in text
    plain = re.sub(r"<[^>]+>", "", text)
    for words in (
        "2 applied: 6.0 MiB a day expected, 8.0 MiB a day measured",
        "Index user:bloom",
        "none, more is planned",
    ):
        assert words in plain


def test_scans_that_something_serves_are_left_out(people: People) -> None:
    now = timezone.now()
    plain, cubed = (iceberg(name, now=now) for name in ("plain", "cubed"))
    for name in ("sorted", "indexed"):
        iceberg(name, now=now)
    iceberg("gone", now=now, is_deleted=True)
    iceberg("far", now=now, lake="other")
    for scope, values in (
        ("shop.sorted", {"layout": "sort(id)"}),
        ("shop.indexed", {"index_columns": ["id"]}),
    ):
        PolicyVersion.objects.create(
            lake="main", scope=scope, version=1, values=values, by="ada", at=now, reason="so"
        )
    cube(cubed, now=now)
    by_kind = (Filter("kind", FilterKind.IN),)
    IcebergTable.objects.update(columns={})
    for row in IcebergTable.objects.all():
        for filters in (BY_ID, BY_NOTE, by_kind, ()):
            scan_report(
                row, Scanned(filters, 5, 0, 500 if filters == BY_ID else 200, "spark"), now=now
            )
    scan_report(plain, Scanned(BY_ID, 5, 0, 10**9, "spark"), now=now - timedelta(days=8))
    for _ in range(2):
        unserved_look("main", now=now)
    found = {(str(one.table), str(one.filters)): one.n_bytes for one in UnservedShape.objects.all()}
    assert found["shop.plain", "[['id', '=']]"] == 500
    assert found["shop.plain", "[]"] == 200
    served = {
        ("shop.sorted", "[['id', '=']]"),
        ("shop.indexed", "[['id', '=']]"),
        ("shop.cubed", "[['kind', 'IN']]"),
    }
    assert not served & found.keys()
    assert {name for name, _ in found} == {
        "shop.plain",
        "shop.sorted",
        "shop.indexed",
        "shop.cubed",
    }


def test_names_of_tables_are_for_who_sees_the_whole_lake(
    people: People, reported: IcebergTable
) -> None:
    advised(reported)
    unserved_look("main", now=timezone.now())
    for user in (people.owner, people.dba, people.stranger):
        for address in (PAGE, API, f"{PAGE}&format=csv&part=unserved"):
            answer = client_of(user).get(address)
            text = answer.content.decode()
            assert answer.status_code == 403
            assert "for admins and operators" in text
            assert "clicks" not in text
        assert "Scans of the lake" not in client_of(user).get("/optimizer/advice/").content.decode()
    assert (
        'href="/optimizer/advice/scans/?lake=main"'
        in client_of(people.operator).get("/optimizer/advice/?lake=main").content.decode()
    )
    assert Client().get(PAGE).status_code == 302


def cost(client: Client, address: str) -> int:
    """The fewest queries of two requests: once a minute one notes that the session was used."""
    client.get(address)
    numbers = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as caught:
            assert client.get(address).status_code == 200
        assert not [one for one in caught.captured_queries if "scanfilter" in one["sql"].lower()]
        numbers.append(len(caught))
    return min(numbers)


@pytest.mark.timeout(300)
def test_the_page_asks_the_same_of_50_000_tables(people: People, reported: IcebergTable) -> None:
    now = timezone.now()
    client = client_of(people.admin)
    advised(reported)
    unserved_look("main", now=now)
    few = {address: cost(client, address) for address in (PAGE, API)}
    plain = {
        "lake": "main",
        "db": "big",
        "owner": "olga",
        "event_at": now,
        "n_files": 1,
        "n_bytes": 9,
    }
    IcebergTable.objects.bulk_create(
        [IcebergTable(table=f"t{n}", uuid=str(n), **plain) for n in range(50_000)], batch_size=2_000
    )
    made = list(IcebergTable.objects.filter(db="big").order_by("pk").only("pk"))
    ScanFilter.objects.bulk_create(
        [
            ScanFilter(table=row, day=now.date(), n_scans=1, n_bytes=place, last_at=now)
            for place, row in enumerate(made)
        ],
        batch_size=5_000,
    )
    ScanShape.objects.bulk_create(
        [
            ScanShape(
                table=row, day=now.date(), digest="d", filters=[["id", "="]], n_scans=1,
                n_bytes=place,
            )
            for place, row in enumerate(made)
        ],
        batch_size=5_000,
    )  # fmt: skip
    for row in made[:250]:
        advised(row)
    with CaptureQueriesContext(connection) as caught:
        assert unserved_look("main", now=now) == KEPT
    assert len(caught) <= 12
    (busiest,) = [one["sql"] for one in caught if "scanfilter" in one["sql"].lower()]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {busiest}")
        plan = " ".join(str(line[-1]) for line in cursor.fetchall())
    assert "optimizer_scans_by_day (column=? AND day>?)" in plan
    assert UnservedShape.objects.latest("n_bytes").table.table in ("t49999", "clicks")
    assert {address: cost(client, address) for address in (PAGE, API)} == few
    assert MOST_TABLES >= KEPT
