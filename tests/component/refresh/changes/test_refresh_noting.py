"""What was heard of a table becomes owed once, by everybody who shows it."""

from datetime import datetime
from typing import Any

import pytest

from portal.events.messages import LakeEvent
from portal.events.registry import Missed
from portal.lake.errors import RuleViolation
from refresh.changes.domain.changes import Cause, PartitionChange
from refresh.changes.services.event_handlers import HOT, on_event, on_events, on_missed
from refresh.changes.services.record_changes import Change, note_change
from refresh.freshness.domain.freshness import Danger, Freshness
from refresh.models import ChangedPartition, RefreshTarget, WatchedTable
from tests.component.refresh.refresh_rows import NOW, SALES, at, cluster, declared

pytestmark = pytest.mark.django_db


def change(**partitions: PartitionChange) -> Change:
    names = {name.replace("_", "="): touch for name, touch in partitions.items()}
    return Change(SALES, Cause.EVENT, whole=not names, partitions=names)


def event(kind: str, *names: str, table: str = "sales", now: datetime = NOW) -> LakeEvent:
    return LakeEvent("main", 7, now, kind, "shop", table, names)


def test_a_table_that_nobody_shows_writes_nothing() -> None:
    assert note_change(change(), now=NOW) == 0
    assert not WatchedTable.objects.exists()


def test_r1_a_change_fans_out_to_every_catalog_and_every_declared_table() -> None:
    bi, old = cluster(), cluster("old", catalog="")
    declared(old, "sales_a")
    declared(old, "sales_b")
    assert note_change(change(dt_1=PartitionChange.ADDED), now=NOW) == 3
    named = RefreshTarget.objects.values_list("cluster", "catalog", "db", "table")
    assert set(named) == {
        (bi.pk, "hive", "shop", "sales"),
        (old.pk, "", "ext", "sales_a"),
        (old.pk, "", "ext", "sales_b"),
    }
    assert WatchedTable.objects.get().changed.get().name == "dt=1"


def test_r2_the_same_change_twice_waits_once_and_keeps_its_place() -> None:
    cluster()
    note_change(change(dt_1=PartitionChange.ADDED), now=NOW)
    first = RefreshTarget.objects.get()
    note_change(change(dt_1=PartitionChange.ADDED), now=at(5))
    again = RefreshTarget.objects.get()
    assert (again.due_at, again.waits_since) == (first.due_at, first.waits_since)
    row = ChangedPartition.objects.get()
    assert (row.at, row.touch) == (at(5), PartitionChange.ADDED)


def test_touched_in_two_ways_counts_as_updated() -> None:
    cluster()
    note_change(change(dt_1=PartitionChange.ADDED), now=NOW)
    note_change(change(dt_1=PartitionChange.DROPPED), now=at(1))
    assert ChangedPartition.objects.get().touch == PartitionChange.UPDATED


def test_r3_an_updated_partition_is_a_danger_at_once_and_stays_one() -> None:
    cluster()
    note_change(change(dt_1=PartitionChange.UPDATED), now=NOW)
    note_change(change(dt_2=PartitionChange.ADDED), now=at(1))
    row = RefreshTarget.objects.get()
    assert (row.freshness, row.danger, row.is_urgent) == (Freshness.STALE, Danger.WRONG, True)
    assert row.stale_since == NOW


def test_who_opted_out_is_shown_stale_but_does_not_wait() -> None:
    cluster()
    note_change(change(), now=NOW)
    RefreshTarget.objects.update(due_at=None, waits_since=None, freshness=Freshness.FRESH)
    WatchedTable.objects.update(is_opted_out=True)
    note_change(change(dt_1=PartitionChange.UPDATED), now=at(1))
    row = RefreshTarget.objects.get()
    assert (row.freshness, row.due_at, row.is_urgent) == (Freshness.STALE, None, False)


def test_r6_an_event_names_the_partitions_that_it_touched() -> None:
    cluster()
    on_event(event("ADD_PARTITION", "dt=1", "dt=2"), NOW)
    on_event(event("DROP_PARTITION", "dt=3"), at(1))
    found = dict(ChangedPartition.objects.values_list("name", "touch"))
    assert found == {
        "dt=1": PartitionChange.ADDED,
        "dt=2": PartitionChange.ADDED,
        "dt=3": PartitionChange.DROPPED,
    }
    assert WatchedTable.objects.get().table_changed_at is None
    on_event(event("INSERT"), at(2))
    assert WatchedTable.objects.get().table_changed_at == at(2)


def test_a_name_that_the_portal_does_not_act_on_is_refused_by_its_rule() -> None:
    on_event(event("INSERT", table="naïve"), NOW)
    cluster()
    with pytest.raises(RuleViolation) as refused:
        on_event(event("INSERT", table="naïve"), NOW)
    assert refused.value.code == "name.grammar"


def test_what_was_missed_makes_the_hot_ones_wait_and_all_unknown_before() -> None:
    cluster()
    cold = SALES.__class__(SALES.lake, "shop", "old")
    note_change(Change(cold, Cause.EVENT, whole=True), now=NOW)
    now = NOW + HOT + HOT / 7
    note_change(change(), now=now)
    RefreshTarget.objects.update(due_at=None, waits_since=None, freshness=Freshness.FRESH)
    on_missed(Missed("main", "", "", "the log was cleaned"), now)
    waiting = RefreshTarget.objects.exclude(due_at=None)
    assert [row.table for row in waiting] == ["sales"]
    assert set(WatchedTable.objects.values_list("tracked_since", flat=True)) == {now}


def test_thousands_of_partitions_are_taken_in_at_once() -> None:
    cluster()
    names = {f"dt={n}": PartitionChange.UPDATED for n in range(5_000)}
    note_change(Change(SALES, Cause.HOOK, partitions=names), now=NOW)
    assert ChangedPartition.objects.count() == 5_000


def test_a_batch_of_the_follower_takes_as_many_queries_as_one_event(
    django_assert_max_num_queries: Any,
) -> None:
    cluster()
    events = [event("ADD_PARTITION", f"dt={n}", table=f"t{n % 150}") for n in range(200)]
    with django_assert_max_num_queries(30):
        on_events(events, NOW)
    with django_assert_max_num_queries(30):
        on_events(events, at(1))
    assert WatchedTable.objects.count() == RefreshTarget.objects.count() == 150
    assert ChangedPartition.objects.filter(at=at(1)).count() == 200


def test_a_batch_with_one_name_that_is_none_writes_nothing_of_itself() -> None:
    cluster()
    with pytest.raises(RuleViolation):
        on_events([event("INSERT"), event("INSERT", table="naïve")], NOW)
    assert not WatchedTable.objects.exists()
