"""The worker makes every front end answer as the metastore, whatever fails on the way."""

import sqlite3
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from portal.lake.ids import LakeId
from refresh.changes.domain.changes import Cause, PartitionChange
from refresh.changes.services.record_changes import Change, note_change
from refresh.clusters.services.clusters import AT_THE_SHELL, cluster_read_ask
from refresh.core.domain.answers import Answer
from refresh.freshness.domain.freshness import Danger, Freshness
from refresh.models import (
    ChangedPartition,
    Cluster,
    MetastoreLoad,
    Refresh,
    RefreshOutcome,
    RefreshTarget,
    TargetFrontEnd,
)
from refresh.worker.domain.lanes import Lane
from refresh.worker.services.planning import plan
from refresh.worker.services.sending import Order, send
from refresh.worker.services.worker import Worker
from stack.starrocks.front_end import Life
from stack.starrocks.link import Trouble
from stack.starrocks.spec import OLD
from tests.component.refresh.lost_line import LostLine
from tests.component.refresh.refresh_scene import SALES, Scene, scene
from tests.component.stack.starrocks.starrocks_cluster import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
DAY = "dt=2026-11-01"


@pytest.fixture
def set_(tmp_path: Path, settings: Any) -> Iterator[Scene]:
    """Three front ends of 3.x."""
    with scene(tmp_path, settings) as found:
        yield found


@pytest.fixture
def old(tmp_path: Path, settings: Any) -> Iterator[Scene]:
    """Three front ends of 2.2."""
    with scene(tmp_path, settings, version=OLD) as found:
        yield found


def states() -> list[str]:
    rows = TargetFrontEnd.objects.order_by("fe__host")
    return list(rows.values_list("freshness", flat=True))


def test_r2_a_rewritten_partition_is_seen_by_every_front_end(set_: Scene) -> None:
    before = set_.costs()
    set_.hive.put("sales", DAY, size=260_000)
    assert set_.costs() == before, "their caches know nothing of it"
    set_.tell(DAY)
    set_.work()
    after = set_.costs()
    assert len(set(after)) == 1
    assert after != before
    assert states() == [Freshness.FRESH] * 3
    assert (set_.target.freshness, set_.target.due_at) == (Freshness.FRESH, None)
    assert not ChangedPartition.objects.exists()


@pytest.mark.parametrize("first", [[sqlite3.OperationalError(2013, "Lost connection")], []])
def test_r2_an_answer_is_written_over_a_new_line_where_the_old_one_is_gone(
    set_: Scene, monkeypatch: pytest.MonkeyPatch, first: list[Exception]
) -> None:
    def send_and_lose(order: Order, *, cluster: Cluster) -> Answer | None:
        answer = send(order, cluster=cluster)
        connection.ensure_connection()
        connection.connection.close()
        connection.connection = LostLine(*first)
        return answer

    monkeypatch.setattr("refresh.worker.services.worker.send", send_and_lose)
    set_.tell(DAY)
    set_.work()
    assert list(Refresh.objects.values_list("ending", flat=True)) == [RefreshOutcome.DONE]
    assert states() == [Freshness.FRESH] * 3


def test_r2_later_changes_go_by_name_once_the_table_is_known(set_: Scene) -> None:
    for day in range(3, 12):
        set_.hive.put("sales", f"dt=2026-11-{day:02}", size=2600)
    set_.tell()
    set_.work()
    set_.hive.put("sales", DAY, size=99_000)
    set_.tell(DAY)
    set_.work()
    kinds = list(Refresh.objects.order_by("began_at").values_list("kind", "ending"))
    assert kinds == [("TABLE", RefreshOutcome.DONE), ("PARTITIONS", RefreshOutcome.DONE)]


def test_r2_on_2_2_the_table_goes_first_and_each_written_partition_by_name(old: Scene) -> None:
    old.costs("ext.sales_in_sr")
    old.hive.put("sales", DAY, size=260_000)
    old.tell(DAY)
    old.work()
    kinds = list(Refresh.objects.order_by("began_at").values_list("kind", flat=True))
    assert kinds == ["TABLE", "PARTITIONS"]
    assert len(set(old.costs("ext.sales_in_sr"))) == 1


def test_n15_r4_a_giant_that_loads_delays_no_other_table(set_: Scene, settings: Any) -> None:
    # On a busy machine the others may take longer than a very large table's time in the other
    # tests.
    settings.LAKEWARDEN_REFRESH_SECONDS = (2, 3, 60)
    set_.hive.add_table("giant", days=("dt=1",))
    set_.costs("hive.shop.giant")
    set_.tell(table="giant")
    RefreshTarget.objects.update(past={"TABLE": [[60.0, 1]]})
    held = set_.hive.held["partitions giant"] = threading.Event()
    deadline = time.monotonic() + 120
    # The front ends are looked at first; whether that takes a turn of its own, time decides.
    while RefreshTarget.objects.filter(running_since=None).exists():
        assert time.monotonic() < deadline, "the very large table does not begin"
        set_.worker.turn()
        set_.worker.wakeup.wait(0.1)
    giant = RefreshTarget.objects.get(table="giant")
    assert giant.lane == Lane.GIANT
    names = [f"t{n}" for n in range(8)]
    for name in names:
        set_.hive.add_table(name, days=("dt=1",))
        set_.tell(table=name)
    others = RefreshTarget.objects.filter(table__in=names)
    deadline = time.monotonic() + 120
    while others.exclude(due_at=None).exists():
        assert time.monotonic() < deadline, "they wait for the very large table"
        set_.worker.turn()
        set_.worker.wakeup.wait(0.1)
    giant.refresh_from_db()
    assert giant.running_since is not None, "it loads all the while"
    held.set()
    assert set_.worker.wait_idle(10)
    set_.work()
    assert set(Refresh.objects.values_list("ending", flat=True)) == {RefreshOutcome.DONE}


def test_r4_on_2_2_a_giant_waits_for_its_hours(old: Scene) -> None:
    old.tell(DAY)
    RefreshTarget.objects.update(past={"TABLE": [[60.0, 2]], "PARTITIONS": [[60.0, 1]]})
    day = (timezone.now() + timedelta(days=3)).strftime("%a")
    old.row.large_table_window = f"{day} 00:00-01:00"
    old.row.save()
    for _ in range(3):
        assert old.worker.turn() == 0
        assert old.worker.wait_idle(10)
    assert old.target.lane == Lane.GIANT
    old.row.large_table_window = ""
    old.row.save()
    old.work()
    assert set(Refresh.objects.values_list("ending", flat=True)) == {RefreshOutcome.DONE}


def test_a_dropped_partition_is_no_name_in_a_statement(set_: Scene) -> None:
    set_.costs()
    set_.hive.drop("sales", DAY)
    set_.tell(DAY, touch=PartitionChange.DROPPED)
    set_.work()
    assert all("partitions=1/1" in text for text in set_.costs())
    assert Refresh.objects.get().ending == RefreshOutcome.DONE


def test_a_table_that_is_gone_leaves_every_front_end(set_: Scene) -> None:
    set_.costs()
    set_.hive.drop_table("sales")
    set_.tell()
    set_.work()
    assert set(Refresh.objects.values_list("coordinator", "ending")) == {
        (fe.name, RefreshOutcome.DONE) for fe in set_.row.front_ends.all()
    }
    assert set_.target.due_at is None
    assert "no more" in set_.target.reason
    assert all(
        "no more" in message for message in Refresh.objects.values_list("message", flat=True)
    )


def test_r5_a_dead_front_end_makes_it_degraded_not_failed(set_: Scene) -> None:
    set_.cluster.set_life("127.0.0.4", Life.DEAD)
    set_.tell(DAY)
    set_.work()
    row = Refresh.objects.order_by("-began_at").first()
    assert row is not None
    assert row.ending == RefreshOutcome.PARTIAL
    set_.retry_now()
    set_.look()
    set_.work()
    assert states() == [Freshness.FRESH, Freshness.FRESH, Freshness.UNKNOWN]
    assert set_.target.due_at is None, "nobody that lives owes anything"


def test_r5_the_one_that_missed_it_is_repaired_when_it_is_back(set_: Scene) -> None:
    set_.costs()
    set_.cluster.set_life("127.0.0.4", Life.FROZEN)
    set_.hive.put("sales", DAY, size=260_000)
    set_.tell(DAY)
    set_.work()
    set_.look()
    set_.cluster.set_life("127.0.0.4", Life.RUNNING)
    set_.retry_now()
    set_.look()
    set_.work()
    set_.retry_now()
    set_.work()
    assert states() == [Freshness.FRESH] * 3
    assert len(set(set_.costs())) == 1


def test_r3_while_the_metastore_is_down_the_danger_stands_and_nothing_is_lost(set_: Scene) -> None:
    set_.costs()
    set_.cluster.set_weather(None, Trouble.DOWN)
    set_.hive.put("sales", DAY, size=260_000)
    set_.tell(DAY)
    set_.work()
    target = set_.target
    assert (target.freshness, target.danger) == (Freshness.STALE, Danger.WRONG)
    assert target.due_at is not None
    assert target.problem
    set_.cluster.set_weather(None, Trouble.NONE)
    set_.retry_now()
    set_.work()
    assert states() == [Freshness.FRESH] * 3


def test_what_a_dead_worker_left_is_called_lost_and_done_again(set_: Scene) -> None:
    set_.tell(DAY)
    Refresh.objects.create(
        cluster=set_.row,
        target=set_.target,
        coordinator=set_.row.front_ends.order_by("name")[0].name,
        kind="TABLE",
        n_partitions=0,
        lane=0,
        waited_since=timezone.now(),
        began_at=timezone.now(),
        epoch=1,
    )
    RefreshTarget.objects.update(running_since=timezone.now(), running_on="x")
    set_.work()
    set_.retry_now()
    set_.work()
    endings = list(Refresh.objects.order_by("began_at").values_list("ending", flat=True))
    assert endings[0] == RefreshOutcome.LOST
    assert set(endings[1:]) == {RefreshOutcome.DONE}
    assert states() == [Freshness.FRESH] * 3


def test_r2_what_is_written_while_a_statement_runs_is_refreshed_again(set_: Scene) -> None:
    set_.costs()
    set_.tell()
    # A worker's turn may send what it planned in the same turn.
    plan(set_.target, now=timezone.now())
    set_.hive.held["partitions sales"] = threading.Event()
    assert set_.worker.turn() == 1
    set_.hive.put("sales", DAY, size=260_000)
    set_.tell(DAY)
    set_.hive.held.pop("partitions sales").set()
    assert set_.worker.wait_idle(10)
    assert set_.target.danger == Danger.WRONG, "the statement began before the write"
    written_at = ChangedPartition.objects.get().at
    assert set_.target.waits_since == written_at, "what it waited for before was taken in"
    set_.work()
    assert Refresh.objects.count() == 2
    assert states() == [Freshness.FRESH] * 3


def test_what_a_refresh_took_in_before_it_was_heard_of_is_forgotten(set_: Scene) -> None:
    began = timezone.now()
    set_.tell()
    set_.work()
    late = Change(SALES, Cause.EVENT, partitions={DAY: PartitionChange.UPDATED})
    assert note_change(late, now=began)
    RefreshTarget.objects.update(due_at=timezone.now())
    set_.work()
    assert Refresh.objects.count() == 1
    assert not ChangedPartition.objects.exists()
    assert states() == [Freshness.FRESH] * 3


def test_a_follower_whose_clock_runs_ahead_is_waited_for_not_hammered(set_: Scene) -> None:
    ahead = timezone.now() + timedelta(minutes=1)
    assert note_change(Change(SALES, Cause.EVENT, whole=True), now=ahead)
    RefreshTarget.objects.update(due_at=timezone.now())
    set_.work()
    assert Refresh.objects.count() == 1
    assert set_.target.not_before == ahead
    assert set_.target.freshness == Freshness.STALE, "nothing sent before the change counts"


def test_no_more_is_planned_than_is_sent_soon_so_that_later_changes_join(set_: Scene) -> None:
    names = [f"t{n}" for n in range(60)]
    for name in names:
        set_.hive.add_table(name, days=("dt=1",))
        set_.tell("dt=1", table=name)
    MetastoreLoad.objects.update_or_create(
        lake="main", defaults={"calls": -1e9, "calls_at": timezone.now()}
    )
    for _ in range(6):
        assert set_.worker.turn() == 0
        assert set_.worker.wait_idle(10)
    planned = RefreshTarget.objects.filter(steps__isnull=False).count()
    assert 24 <= planned < 60, "the metastore may not be asked, so all of them wait"
    MetastoreLoad.objects.update(calls=2_000)
    set_.work()
    assert Refresh.objects.count() == 60


def test_plans_of_one_catalog_that_wait_hold_up_none_of_another(set_: Scene) -> None:
    set_.row.catalogs.create(name="lent", uris="thrift://elsewhere:9083", lake="main")
    for n in range(40):
        set_.hive.add_table(f"t{n}", days=("dt=1",))
        set_.tell("dt=1", table=f"t{n}")
    MetastoreLoad.objects.update_or_create(
        lake="main", defaults={"calls": -1e9, "calls_at": timezone.now()}
    )
    for _ in range(5):
        assert set_.worker.turn() == 0
        assert set_.worker.wait_idle(10)
    for catalog in ("hive", "lent"):
        planned = RefreshTarget.objects.filter(catalog=catalog, steps__isnull=False)
        assert planned.count() >= 24


def test_a_lake_whose_plans_hang_holds_up_none_of_another(
    set_: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_.row.catalogs.create(name="lent", uris="thrift://elsewhere:9083", lake="second")
    lent = replace(SALES, lake=LakeId("second"))
    for n in range(12):
        change = Change(replace(lent, table=f"t{n}"), Cause.EVENT, whole=True, partitions={})
        assert note_change(change, now=timezone.now())
    RefreshTarget.objects.update(due_at=timezone.now() - timedelta(hours=1))
    mine = RefreshTarget.objects.filter(watched__lake="main")
    go_on = threading.Event()

    def plan_or_hang(target: RefreshTarget, **given: Any) -> None:
        if target.watched.lake == "second":
            go_on.wait(30)
        else:
            plan(target, **given)

    monkeypatch.setattr(f"{Worker.__module__}.plan", plan_or_hang)
    set_.tell(DAY)
    try:
        wait_until(lambda: set_.worker.turn() >= 0 and mine.get().due_at is None)
        assert mine.get().freshness == Freshness.FRESH
    finally:
        go_on.set()


def test_two_workers_never_send_the_same_twice(set_: Scene) -> None:
    other = Worker(holder="two", clock=timezone.now)
    for n in range(10):
        set_.hive.add_table(f"t{n}", days=("dt=1",))
        set_.tell("dt=1", table=f"t{n}")
    while set_.is_busy():
        set_.worker.turn()
        assert other.turn() == 0, "only one leads"
        assert set_.worker.wait_idle(20)
    other.stop()
    assert Refresh.objects.count() == 10


def test_a_paused_cluster_sends_nothing(set_: Scene) -> None:
    set_.row.is_paused = True
    set_.row.save()
    set_.tell(DAY)
    set_.worker.turn()
    assert set_.worker.wait_idle(10)
    assert not Refresh.objects.exists()
    assert set_.target.due_at is not None


def test_the_worker_reads_at_once_what_somebody_asked_to_have_read(set_: Scene) -> None:
    set_.work()
    set_.row.front_ends.update(config={}, config_at=None)
    cluster_read_ask(set_.row, by=AT_THE_SHELL, now=timezone.now())
    set_.work()
    set_.row.refresh_from_db()
    assert (set_.row.read_requested_at, set_.row.problem) == (None, "")
    assert set_.row.front_ends.filter(config_at=None).count() == 0
