"""Tables that nobody told of are found in the metastore, shown and swept, a page at a time."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from refresh.freshness.domain.freshness import Danger, Freshness
from refresh.models import FileStamp, RefreshTarget, WatchedTable
from refresh.verify.services import table_discovery
from refresh.verify.services.sweeping import LIMITS, sweep
from refresh.verify.services.table_discovery import tables_find
from stack.starrocks.spec import OLD
from tests.component.refresh.refresh_scene import Scene, govern, scene

pytestmark = pytest.mark.django_db(transaction=True)
AT_ONCE = replace(LIMITS, shortest=timedelta(0), longest=timedelta(0))


@pytest.fixture
def set_(tmp_path: Path, settings: Any) -> Iterator[Scene]:
    """Three front ends of 3.x whose metastore has tables of which nobody told."""
    with scene(tmp_path, settings) as found:
        found.row.named_at = None
        found.row.save()
        yield found


def test_s8_a_table_never_heard_of_is_found_swept_and_kept_fresh(set_: Scene) -> None:
    folder = set_.lake.root / "shops"
    folder.mkdir(parents=True)
    (folder / "part-0.parquet").write_bytes(b"x")
    assert sweep(set_.row, clock=timezone.now, limits=AT_ONCE).found == 2
    shops = RefreshTarget.objects.get(table="shops")
    assert (shops.freshness, shops.danger) == (Freshness.UNKNOWN, Danger.UNKNOWN)
    assert (shops.due_at, shops.rank > 0) == (None, True)
    assert FileStamp.objects.filter(table__table="shops").exists(), "looked at in its turn"
    (folder / "part-1.parquet").write_bytes(b"an insert that leaves no event")
    sweep(set_.row, clock=timezone.now, limits=AT_ONCE)
    shops.refresh_from_db()
    assert (shops.freshness, shops.due_at is None) == (Freshness.STALE, False)
    RefreshTarget.objects.exclude(due_at=None).update(due_at=timezone.now())
    set_.work()
    shops.refresh_from_db()
    assert shops.freshness == Freshness.FRESH


def test_s8_a_round_goes_on_where_it_ended_and_comes_again_after_an_hour(
    set_: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_discovery, "_DATABASES", 1)
    monkeypatch.setattr(table_discovery._Room.__init__, "__defaults__", (1, 5_000))
    for db in ("a", "b"):
        set_.hive.kept[db] = {}
        set_.hive.add_table("t", days=None, db=db)
    now = timezone.now()
    found = [tables_find(set_.row, clock=lambda: now) for _ in range(5)]
    assert sum(found) == 4
    assert found[:3] == [1, 1, 2]
    assert set_.row.named_at == now
    set_.hive.add_table("late", days=None)
    later = now + timedelta(minutes=59)
    assert tables_find(set_.row, clock=lambda: later) == 0
    later = now + timedelta(hours=1)
    assert sum(tables_find(set_.row, clock=lambda: later) for _ in range(4)) == 1


def test_s8_many_tables_take_a_number_of_statements_that_grows_by_the_page(set_: Scene) -> None:
    for number in range(1_200):
        set_.hive.add_table(f"t{number:04d}", days=None)
    with CaptureQueriesContext(connection) as seen:
        assert tables_find(set_.row, clock=timezone.now) == 1_202
    assert len(seen) < 120  # SQLite cuts each insert into pieces of a thousand values
    assert WatchedTable.objects.count() == RefreshTarget.objects.count() == 1_202
    row = set_.row
    small = replace(AT_ONCE, tables=3, page=500)
    keys = list(WatchedTable.objects.order_by("pk").values_list("pk", flat=True))
    for turn in (1, 2):
        with CaptureQueriesContext(connection) as seen:
            sweep(row, clock=timezone.now, limits=small)
        assert row.swept_after == keys[3 * turn - 1]
        assert len(seen) < 400, "three tables were looked at"
    WatchedTable.objects.filter(pk__in=keys[:-1]).update(is_opted_out=True)
    sweep(row, clock=timezone.now, limits=small)
    assert row.swept_after == 0, "after the last page the first one follows"


def test_s8_a_metastore_that_is_down_finds_nothing_and_loses_nothing(
    set_: Scene, settings: Any
) -> None:
    assert tables_find(set_.row, clock=timezone.now) == 2
    before = list(WatchedTable.objects.values())
    set_.row.named_at = None
    set_.row.save()
    govern(settings.LAKEWARDEN_VAR, settings, port=1)
    assert tables_find(set_.row, clock=timezone.now) == 0
    assert list(WatchedTable.objects.values()) == before


def test_s8_tables_on_resources_are_found_too(tmp_path: Path, settings: Any) -> None:
    with scene(tmp_path, settings, version=OLD) as old:
        old.row.named_at = None
        old.row.save()
        assert tables_find(old.row, clock=timezone.now) == 1
        assert str(RefreshTarget.objects.get()) == "ext.sales_in_sr"
