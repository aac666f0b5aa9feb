"""Events of the metastore keep the catalog's rows: made, changed, renamed and dropped tables."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from portal.access.services import person_create
from portal.catalog.models import Table, VacatedName
from portal.catalog.selectors import tables_by_name, tables_living, tables_visible
from portal.catalog.services.event_handlers import on_event
from portal.connectors.lake_config import LakeConfig
from portal.events.models import EventAlarm
from portal.events.registry import Missed, subscribers
from tests.component.conftest import People
from tests.component.portal.catalog.messages import (
    NOW,
    UUID,
    altered,
    at,
    created,
    dropped,
    event,
    hear,
    renamed,
)

pytestmark = pytest.mark.django_db


def living() -> dict[str, int]:
    return {str(row): row.pk for row in tables_living("main")}


def test_a_table_that_is_made_has_a_row(lake: LakeConfig) -> None:
    hear(created(1, "clicks", uuid=UUID), created(2, "orders"))
    clicks = Table.objects.get(name="clicks")
    assert (clicks.lake, clicks.db, clicks.format, clicks.uuid) == ("main", "shop", "iceberg", UUID)
    assert (clicks.owner, clicks.event_id, clicks.first_seen_at) == ("olga", 1, NOW)
    assert clicks.location == str(lake.path("file:/lake/shop/clicks"))
    assert clicks.created_at is not None
    assert clicks.deleted_at is None
    assert Table.objects.get(name="orders").uuid == ""


def test_a_change_is_kept_and_a_commit_costs_no_write(lake: LakeConfig) -> None:
    hear(created(1, "clicks", uuid=UUID))
    hear(altered(2, "clicks", uuid=UUID, owner="paul", was={"owner": "olga"}))
    assert Table.objects.get().owner == "paul"
    with CaptureQueriesContext(connection) as asked:
        hear(altered(3, "clicks", uuid=UUID, owner="paul", was={}))
    assert len(asked) == 0


def test_a_rename_keeps_the_row_and_a_name_made_anew_gets_another(lake: LakeConfig) -> None:
    hear(created(1, "clicks"))
    was = living()["shop.clicks"]
    hear(renamed(2, "clicks", "visits"), created(3, "clicks"), minutes=1)
    assert living()["shop.visits"] == was != living()["shop.clicks"]
    hear(dropped(4, "clicks"), created(5, "clicks"), minutes=2)
    rows = Table.objects.filter(name="clicks").order_by("pk").values_list("deleted_at", flat=True)
    assert list(rows) == [at(2), None]


def test_names_that_change_hands_in_one_batch_and_between_batches(lake: LakeConfig) -> None:
    hear(created(1, "clicks"), created(2, "clicks_new"))
    old, new = living()["shop.clicks"], living()["shop.clicks_new"]
    hear(renamed(3, "clicks", "clicks_old"), renamed(4, "clicks_new", "clicks"))
    assert living() == {"shop.clicks_old": old, "shop.clicks": new}
    hear(dropped(5, "clicks"))
    hear(renamed(6, "clicks_old", "clicks"))
    assert living() == {"shop.clicks": old}


def test_events_taken_in_again_or_late_change_nothing(lake: LakeConfig) -> None:
    events = [
        created(1, "clicks"),
        renamed(2, "clicks", "visits"),
        created(3, "orders"),
        dropped(4, "orders"),
    ]
    hear(*events)
    before = list(Table.objects.order_by("pk").values())
    hear(*events, minutes=5)
    for one in reversed(events):
        on_event(one, at(9))
    assert list(Table.objects.order_by("pk").values()) == before
    assert VacatedName.objects.count() == 2


def test_a_name_that_was_left_is_not_given_back_by_an_older_event(lake: LakeConfig) -> None:
    hear(renamed(7, "clicks", "visits"))
    hear(dropped(9, "orders"))
    hear(created(6, "clicks"), created(8, "orders"))
    assert list(living()) == ["shop.visits"]


def test_a_new_table_takes_the_owner_of_its_database_from_another(lake: LakeConfig) -> None:
    hear(created(1, "clicks"), created(2, "logs", db="web"))
    Table.objects.filter(db="shop").update(db_owner="sara")
    Table.objects.filter(db="web").update(db_owner="wanda")
    hear(created(3, "orders"), renamed(4, "clicks", "clicks", db="web"))
    found = {str(row): row.db_owner for row in Table.objects.all()}
    assert found == {"shop.orders": "sara", "web.clicks": "wanda", "web.logs": "wanda"}


def test_the_number_of_statements_does_not_grow_with_the_events(lake: LakeConfig) -> None:
    def n_statements(first: int, n_tables: int) -> int:
        some = [created(first + n, f"t{first + n}") for n in range(n_tables)]
        moved = [
            renamed(first + 500 + n, f"t{first + n}", f"r{first + n}") for n in range(n_tables)
        ]
        with CaptureQueriesContext(connection) as asked:
            hear(*some, *moved)
        return len(asked)

    # SQLite takes 71 rows in one statement.
    assert n_statements(1, 2) <= n_statements(5_000, 200) <= 14


def test_what_cannot_be_read_is_refused(lake: LakeConfig) -> None:
    broken = event(1, "CREATE_TABLE", {"tableObjJson": "{"}, "clicks")
    with pytest.raises(ValueError, match="Expecting"):
        on_event(broken, NOW)
    assert not Table.objects.exists()


def test_events_that_were_missed_let_every_number_count_as_new(lake: LakeConfig) -> None:
    hear(created(1_000, "clicks"), dropped(1_001, "orders"))
    (catalog,) = (one for one in subscribers() if one.name == "catalog")
    assert catalog.rescan is not None
    catalog.rescan(Missed("main", "shop", "clicks", "?"), NOW)
    hear(dropped(3, "clicks"))
    assert list(living()) == ["shop.clicks"]
    catalog.rescan(Missed("main", "", "", "the log restarted"), NOW)
    hear(dropped(4, "clicks"), created(5, "orders"))
    assert list(living()) == ["shop.orders"]
    assert not EventAlarm.objects.exists()


def test_people_see_the_tables_that_they_own_and_keepers_all(
    lake: LakeConfig, people: People
) -> None:
    hear(created(1, "clicks"), created(2, "orders", owner="paul"), created(3, "gone"))
    hear(dropped(4, "gone"))
    Table.objects.filter(name="orders").update(db_owner="sara")
    sara = person_create("sara", password="correct horse staple", email="s@example.org", roles=())

    def seen(user: Any) -> list[str]:
        return sorted(row.name for row in tables_visible("main", user))

    assert seen(people.owner) == ["clicks"]
    assert seen(sara) == ["orders"]
    assert seen(people.stranger) == []
    assert seen(people.admin) == ["clicks", "orders"]
    names = [("shop", "clicks"), ("shop", "gone"), ("web", "clicks")]
    assert list(tables_by_name("main", names)) == [("shop", "clicks")]
