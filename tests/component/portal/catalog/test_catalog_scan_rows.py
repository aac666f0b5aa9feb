"""A scan is the whole truth of its instant: the catalog follows it in few statements."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from portal.catalog.domain.entries import ListedTable, TableFacts
from portal.catalog.models import Table, VacatedName
from portal.catalog.selectors import tables_living
from portal.catalog.services.scan import KEPT, ScanRead, scan_record
from portal.connectors.lake_config import LakeConfig
from tests.component.portal.catalog.messages import UUID, at, created, dropped, hear, renamed

pytestmark = pytest.mark.django_db


def table(name: str, number: int, *, db: str = "shop", **facts: str) -> ListedTable:
    place = f"file:/lake/{db}/{name}"
    return ListedTable(
        db,
        name,
        TableFacts(**{"format": "parquet", "location": place, "owner": "olga", **facts}),
        db_owner="sara",
        metastore_id=number,
        created_at=at(number),
    )


def scan(*tables: ListedTable, event_id: int, minutes: float) -> int:
    return scan_record(ScanRead("main", at(minutes), event_id), tables)


def living() -> dict[str, int]:
    return {str(row): row.pk for row in tables_living("main")}


def test_what_a_scan_sees_has_a_row_and_what_it_misses_is_deleted(lake: LakeConfig) -> None:
    assert scan(table("clicks", 1), table("orders", 2), event_id=10, minutes=10) == 0
    clicks = Table.objects.get(name="clicks")
    assert (clicks.metastore_id, clicks.created_at, clicks.db_owner) == (1, at(1), "sara")
    assert clicks.first_seen_at == clicks.last_seen_at == at(10)
    assert clicks.location == str(lake.path("file:/lake/shop/clicks"))

    assert scan(table("clicks", 1, owner="paul"), event_id=20, minutes=20) == 1
    clicks.refresh_from_db()
    assert (clicks.owner, clicks.first_seen_at, clicks.last_seen_at) == ("paul", at(10), at(20))
    orders = Table.objects.get(name="orders")
    assert (orders.deleted_at, orders.is_living) == (at(20), None)


def test_a_scan_recorded_again_changes_nothing(lake: LakeConfig) -> None:
    tables = [table("clicks", 1), table("orders", 2)]
    scan(*tables, table("old", 3), event_id=10, minutes=10)
    scan(*tables, event_id=20, minutes=20)
    before = list(Table.objects.order_by("pk").values())
    scan(*tables, event_id=20, minutes=20)
    scan(*tables, table("old", 3), event_id=10, minutes=10)
    assert list(Table.objects.order_by("pk").values()) == before


def test_a_scan_knows_tables_again_that_were_renamed_or_swapped_unheard(lake: LakeConfig) -> None:
    scan(table("clicks", 1), table("orders", 2), table("logs", 3), event_id=10, minutes=10)
    was = living()
    scan(
        replace(table("orders", 1), db="shop"),
        table("clicks", 2),
        table("journal", 3, db="web"),
        event_id=20,
        minutes=20,
    )
    assert living() == {
        "shop.orders": was["shop.clicks"],
        "shop.clicks": was["shop.orders"],
        "web.journal": was["shop.logs"],
    }
    scan(table("clicks", 7), event_id=30, minutes=30)
    assert living()["shop.clicks"] not in was.values()


def test_a_table_that_was_missed_once_has_its_row_again(lake: LakeConfig) -> None:
    scan(table("clicks", 1, uuid=UUID, format="iceberg"), event_id=10, minutes=10)
    was = living()
    scan(event_id=20, minutes=20)
    assert living() == {}
    scan(table("clicks", 1, uuid=UUID, format="iceberg"), event_id=30, minutes=30)
    assert living() == was


def test_what_an_event_did_after_the_scan_began_stays(lake: LakeConfig) -> None:
    scan(table("clicks", 1), table("orders", 2), table("logs", 3), event_id=10, minutes=10)
    was = living()
    hear(created(21, "new"), renamed(22, "clicks", "visits"), dropped(23, "orders"), minutes=21)
    scan(table("clicks", 1), table("orders", 2), table("logs", 3), event_id=20, minutes=20)
    assert living() == {
        "shop.logs": was["shop.logs"],
        "shop.visits": was["shop.clicks"],
        "shop.new": Table.objects.get(name="new").pk,
    }


def test_events_that_come_after_a_scan_which_saw_their_outcome_change_nothing(
    lake: LakeConfig,
) -> None:
    scan(table("visits", 1), table("orders", 2), event_id=20, minutes=20)
    before = list(Table.objects.order_by("pk").values())
    hear(created(11, "visits"), created(12, "orders"), dropped(13, "orders"), minutes=21)
    hear(created(14, "orders"), renamed(15, "clicks", "visits"), minutes=22)
    assert list(Table.objects.order_by("pk").values()) == before


def test_numbers_of_a_log_that_ended_do_not_bind_the_scan_of_the_next(lake: LakeConfig) -> None:
    scan(table("clicks", 1), table("orders", 2), event_id=90_000, minutes=0)
    assert scan(table("clicks", 1, owner="paul"), event_id=5, minutes=600) == 1
    assert Table.objects.get(name="clicks").owner == "paul"
    hear(dropped(6, "clicks"), minutes=601)
    assert living() == {}


def test_tables_deleted_long_ago_are_forgotten(lake: LakeConfig) -> None:
    hear(created(1, "clicks"), created(2, "orders"), dropped(3, "clicks"))
    days = KEPT + timedelta(days=1)
    orders = replace(table("orders", 2), created_at=None)  # the event's own, as in a metastore
    scan(orders, event_id=4, minutes=days.total_seconds() / 60)
    assert [str(row) for row in Table.objects.all()] == ["shop.orders"]
    assert not VacatedName.objects.exists()


def test_five_thousand_tables_take_few_statements_and_are_read_piece_by_piece(
    lake: LakeConfig,
) -> None:
    n_ahead = 0

    def tables() -> Iterable[ListedTable]:
        nonlocal n_ahead
        for number in range(5_000):
            n_ahead += 1
            yield table(f"t{number}", number + 1, db=f"db{number % 40}")

    def n_statements(event_id: int) -> int:
        nonlocal n_ahead
        n_ahead = 0
        with CaptureQueriesContext(connection) as asked:
            scan_record(ScanRead("main", at(event_id), event_id), tables())
        assert n_ahead == 5_000
        return len(asked)

    # SQLite takes 66 rows in one statement, MariaDB all of a chunk.
    assert n_statements(10) <= 125
    assert n_statements(20) <= 125
    assert Table.objects.filter(last_seen_at=at(20), is_living=True).count() == 5_000
    with CaptureQueriesContext(connection) as asked:
        assert scan(event_id=30, minutes=30) == 5_000
    assert len(asked) <= 80
