"""What nobody told is found: silent overwrites, and front ends that answer from other data."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from refresh.changes.domain.changes import Cause, PartitionChange
from refresh.changes.services.record_changes import Change, note_change
from refresh.freshness.domain.freshness import Danger, Freshness
from refresh.models import (
    ChangedPartition,
    FileStamp,
    MetastoreLoad,
    Refresh,
    RefreshTarget,
    TableSweep,
    TargetFrontEnd,
    TargetProbe,
    WatchedTable,
)
from refresh.verify.services.sweeping import LIMITS, Swept, sweep
from stack.process import free_port
from stack.starrocks.front_end import Life, Target
from stack.starrocks.link import Trouble
from stack.starrocks.spec import OLD
from tests.component.refresh.refresh_scene import SALES, Scene, govern, scene
from tests.component.refresh.refresh_tables import statement
from tests.component.stack.starrocks.starrocks_cluster import Client

pytestmark = pytest.mark.django_db(transaction=True)
DAY = "dt=2026-11-01"
NEXT = "dt=2026-11-03"
PARTS = ("shop", "sales")
BIG = "dt=2026-11-09"
PROBED = replace(LIMITS, shortest=timedelta(minutes=5), longest=timedelta(minutes=5))
AT_ONCE = replace(LIMITS, shortest=timedelta(0), longest=timedelta(0))


@pytest.fixture
def set_(tmp_path: Path, settings: Any) -> Iterator[Scene]:
    """Three front ends of 3.x with a table that was refreshed once, and looked at once."""
    with scene(tmp_path, settings) as found:
        begin(found)
        yield found


def begin(found: Scene) -> None:
    for day in (DAY, "dt=2026-11-02"):
        found.lake.write("sales", day, 2600)
    found.costs("ext.sales_in_sr" if found.version == OLD else "hive.shop.sales")
    found.tell()
    found.work()
    swept(found)
    assert not found.is_busy(), "the first look concludes nothing"


def swept(found: Scene) -> Swept:
    """Sweep now, and let what it queued go on at once."""
    result = sweep(found.row, clock=timezone.now, limits=AT_ONCE)
    RefreshTarget.objects.exclude(due_at=None).update(due_at=timezone.now())
    return result


def states() -> list[str]:
    return list(TargetFrontEnd.objects.order_by("fe__host").values_list("freshness", flat=True))


def refresh_one(found: Scene, number: int, *partitions: str) -> None:
    """Refresh one front end behind the back of the others, as its own automatic refresh does."""
    fe = found.cluster.cluster.front_ends[number - 1]
    fe.refresh(Target("hive", "shop", "sales", "sales", partitions))


def test_n16_a_silent_overwrite_is_found_and_every_front_end_answers_right(set_: Scene) -> None:
    before = set_.costs()
    set_.lake.write("sales", DAY, 260_000)
    assert set_.costs() == before, "nobody told"
    assert swept(set_) == Swept(tables=1, directories=2)
    target = set_.target
    assert (target.freshness, target.danger) == (Freshness.STALE, Danger.WRONG)
    assert ChangedPartition.objects.get().name == DAY
    set_.work()
    after = set_.costs()
    assert len(set(after)) == 1
    assert after != before
    assert states() == [Freshness.FRESH] * 3
    assert Refresh.objects.order_by("-began_at")[0].causes == [Cause.SWEEP]
    assert swept(set_) == Swept(tables=1, directories=2, probes=1)
    assert not set_.is_busy(), "it is told once"


def test_n16_the_same_size_written_anew_is_found_too(set_: Scene) -> None:
    before = FileStamp.objects.get(name=DAY)
    set_.lake.write("sales", DAY, 2600)
    swept(set_)
    after = FileStamp.objects.get(name=DAY)
    assert (after.n_files, after.n_bytes) == (before.n_files, before.n_bytes)
    assert after.newest_ms > before.newest_ms
    assert after.changed_at is not None
    assert ChangedPartition.objects.get().touch == PartitionChange.UPDATED


def test_what_no_event_named_came_or_went(set_: Scene) -> None:
    set_.lake.write("sales", NEXT, 2600)
    set_.hive.drop("sales", DAY)
    swept(set_)
    found = dict(ChangedPartition.objects.values_list("name", "touch"))
    assert found == {NEXT: PartitionChange.ADDED, DAY: PartitionChange.DROPPED}
    set_.work()
    assert all("partitions=2/2" in text for text in set_.costs())
    assert states() == [Freshness.FRESH] * 3
    swept(set_)
    assert not set_.is_busy()


def test_what_an_event_named_is_not_told_again(set_: Scene) -> None:
    set_.lake.write("sales", NEXT, 2600)
    set_.tell(NEXT, touch=PartitionChange.ADDED)
    set_.work()
    swept(set_)
    assert not set_.is_busy()
    assert FileStamp.objects.filter(name=NEXT).exists()


def test_a_rewritten_old_partition_stays_in_sight(set_: Scene) -> None:
    limits = replace(AT_ONCE, newest=1)
    for _ in range(2):
        sweep(set_.row, clock=timezone.now, limits=limits)
    assert [row.name for row in FileStamp.objects.all()] == ["dt=2026-11-02"]
    set_.tell(DAY)
    set_.work()
    sweep(set_.row, clock=timezone.now, limits=limits)
    set_.lake.write("sales", DAY, 5000)
    sweep(set_.row, clock=timezone.now, limits=limits)
    assert ChangedPartition.objects.get().name == DAY


def test_an_unpartitioned_table_is_one_directory(set_: Scene) -> None:
    folder = set_.lake.root / "shops"
    folder.mkdir()
    (folder / "part-0.parquet").write_bytes(b"x")
    set_.tell(table="shops")
    set_.work()
    swept(set_)
    (folder / "part-0.parquet").write_bytes(b"xyz")
    swept(set_)
    watched = WatchedTable.objects.get(table="shops")
    assert watched.table_changed_at is not None
    set_.work()
    assert RefreshTarget.objects.get(table="shops").freshness == Freshness.FRESH


def test_a_drop_that_nobody_told_is_found(set_: Scene) -> None:
    set_.hive.drop_table("sales")
    swept(set_)
    set_.work()
    assert "no more" in set_.target.reason


def test_a_metastore_that_is_down_concludes_nothing(set_: Scene, settings: Any) -> None:
    stamps = list(FileStamp.objects.order_by("pk").values())
    set_.lake.write("sales", DAY, 260_000)
    port = get_port(settings)
    govern(settings.LAKEWARDEN_VAR, settings, port=free_port())
    assert swept(set_) == Swept()
    assert list(FileStamp.objects.order_by("pk").values()) == stamps
    assert not set_.is_busy()
    assert states() == [Freshness.FRESH] * 3
    assert "metastore" in TableSweep.objects.get().problem.lower()
    assert "metastore" in TargetProbe.objects.get().problem.lower()
    govern(settings.LAKEWARDEN_VAR, settings, port=port)
    MetastoreLoad.objects.all().delete()
    swept(set_)
    assert ChangedPartition.objects.get().name == DAY
    assert TableSweep.objects.get().problem == ""


def test_a_file_system_that_cannot_be_read_concludes_nothing(set_: Scene) -> None:
    stamps = list(FileStamp.objects.order_by("pk").values())
    set_.hive.base = "s3a://elsewhere"
    set_.lake.root = Path("/proc/1/root")
    assert swept(set_).tables == 0
    assert list(FileStamp.objects.order_by("pk").values()) == stamps
    assert not ChangedPartition.objects.exists()
    assert TableSweep.objects.get().problem


def test_n13_a_front_end_that_missed_a_partition_is_found_and_repaired(set_: Scene) -> None:
    set_.hive.put("sales", NEXT, size=2600)
    refresh_one(set_, 1)
    refresh_one(set_, 2)
    # The first look would find the new name too: here only the front ends are asked.
    TableSweep.objects.update(inspected_at=timezone.now())
    limits = replace(LIMITS, shortest=timedelta(minutes=5))
    TargetProbe.objects.update(probed_at=None)
    result = sweep(set_.row, clock=timezone.now, limits=limits)
    assert result == Swept(probes=1, diverged=1)
    assert states() == [Freshness.STALE, Freshness.STALE, Freshness.DIVERGED], "all are refreshed"
    target = set_.target
    assert (target.freshness, target.danger) == (Freshness.DIVERGED, Danger.WRONG)
    assert "it has 2, should be 3" in target.reason
    RefreshTarget.objects.update(due_at=timezone.now())
    set_.work()
    assert states() == [Freshness.FRESH] * 3
    assert len(set(set_.costs())) == 1


def test_n13_front_ends_that_differ_in_rows_are_all_in_doubt(set_: Scene) -> None:
    set_.hive.put("sales", DAY, size=260_000)
    refresh_one(set_, 2, DAY)
    result = swept(set_)
    assert (result.probes, result.diverged) == (1, 1)
    assert states() == [Freshness.DIVERGED] * 3
    assert "different numbers of rows" in set_.target.reason
    set_.work()
    assert states() == [Freshness.FRESH] * 3
    assert len(set(set_.costs())) == 1


def test_s1_who_cached_other_partitions_is_not_wrong(set_: Scene) -> None:
    # A whole plan stands for the mean of what is cached, and differs though all are right.
    for number, days in enumerate(((DAY,), (DAY, BIG), (BIG,)), start=1):
        set_.cluster.restart(f"127.0.0.{number + 1}")
        for day in days:
            if number == 1:
                set_.lake.write("sales", BIG, 260_000)
            Client(set_.cluster, number).query(f"hive.shop.sales WHERE dt = '{day[3:]}'")
    set_.look()
    set_.tell()
    set_.work()
    plans = {Client(set_.cluster, number).costs("hive.shop.sales") for number in (1, 2, 3)}
    assert len(plans) == 3
    assert swept(set_) == Swept(tables=1, directories=3, probes=1)
    assert states() == [Freshness.FRESH] * 3
    assert not TargetFrontEnd.objects.exclude(diverged_at=None).exists()


def test_s1_a_partition_that_two_cached_differently_is_named(set_: Scene) -> None:
    set_.hive.put("sales", DAY, size=260_000)
    refresh_one(set_, 2, DAY)
    set_.cluster.restart("127.0.0.4")
    TableSweep.objects.update(inspected_at=timezone.now())
    TargetProbe.objects.update(probed_at=None)
    assert sweep(set_.row, clock=timezone.now, limits=PROBED).diverged == 1
    assert states() == [Freshness.DIVERGED, Freshness.DIVERGED, Freshness.STALE]
    assert f"different numbers of rows of {DAY}" in set_.target.reason


def test_n13_an_outdated_ddl_time_is_found(set_: Scene) -> None:
    kept = set_.hive.kept["shop"]
    kept["sales"] = replace(kept["sales"], parameters={"transient_lastDdlTime": "2000"})
    assert swept(set_).diverged == 1
    assert "last DDL time" in set_.target.reason
    set_.work()
    assert swept(set_).diverged == 0
    assert states() == [Freshness.FRESH] * 3


def test_what_a_refresh_does_not_mend_is_not_refreshed_again_and_again(set_: Scene) -> None:
    for size in (100_000, 200_000):
        set_.hive.put("sales", DAY, size=size)
        refresh_one(set_, 2, DAY)
        assert swept(set_).diverged == 1
        set_.work()
    assert states() == [Freshness.DIVERGED] * 3, "shown, and left to people for an hour"
    TargetProbe.objects.update(repaired_at=timezone.now() - timedelta(hours=2))
    assert swept(set_).diverged == 1
    set_.work()
    assert states() == [Freshness.FRESH] * 3


def test_a_probe_during_a_change_concludes_nothing(set_: Scene) -> None:
    set_.hive.put("sales", DAY, size=260_000)
    refresh_one(set_, 2, DAY)
    asked = set_.lake.asked.count("shop.sales")

    def clock() -> datetime:
        # Once for the files, twice for the probe: the next instant is that of its conclusion.
        if set_.lake.asked.count("shop.sales") >= asked + 3:
            change = Change(SALES, Cause.EVENT, partitions={DAY: PartitionChange.UPDATED})
            note_change(change, now=timezone.now())
        return timezone.now()

    result = sweep(set_.row, clock=clock, limits=AT_ONCE)
    assert (result.probes, result.diverged) == (0, 0)
    assert not TargetFrontEnd.objects.exclude(diverged_at=None).exists()


def test_a_probe_over_a_metastore_that_moves_concludes_nothing(set_: Scene) -> None:
    set_.hive.put("sales", NEXT, size=2600)
    TableSweep.objects.update(inspected_at=timezone.now())
    TargetProbe.objects.update(probed_at=None)
    asked = set_.lake.asked.count("shop.sales")

    def clock() -> datetime:
        # Just after the metastore was asked for the first time.
        if set_.lake.asked.count("shop.sales") == asked + 1 and NEXT in set_.hive.parts[PARTS]:
            set_.hive.drop("sales", NEXT)
        return timezone.now()

    assert sweep(set_.row, clock=clock) == Swept()
    assert set_.lake.asked.count("shop.sales") == asked + 2
    assert not TargetFrontEnd.objects.exclude(diverged_at=None).exists()


def test_a_front_end_that_does_not_answer_says_nothing(set_: Scene) -> None:
    set_.cluster.set_life("127.0.0.4", Life.GARBAGE)
    assert swept(set_) == Swept(tables=1, directories=2, probes=1)
    assert states() == [Freshness.FRESH] * 3


def test_a_front_end_whose_metastore_is_away_says_nothing(set_: Scene) -> None:
    set_.cluster.set_weather("127.0.0.4", Trouble.DOWN)
    assert swept(set_).diverged == 0


def test_who_is_paused_or_opted_out_is_left_alone(set_: Scene) -> None:
    set_.lake.write("sales", DAY, 260_000)
    WatchedTable.objects.update(is_opted_out=True)
    assert swept(set_) == Swept()
    WatchedTable.objects.update(is_opted_out=False)
    set_.row.is_paused = True
    set_.row.save()
    assert swept(set_) == Swept()


def test_what_is_not_due_is_not_asked(set_: Scene) -> None:
    assert sweep(set_.row, clock=timezone.now) == Swept()
    WatchedTable.objects.update(changed_at=timezone.now() - timedelta(days=8))
    RefreshTarget.objects.update(refreshed_at=timezone.now() - timedelta(days=8))
    assert sweep(set_.row, clock=timezone.now) == Swept(), "at rest, and looked at lately"
    assert swept(set_) == Swept(tables=1, directories=2), "its turn, without a probe"


def test_before_catalogs_each_partition_is_named_to_repair_it(
    tmp_path: Path, settings: Any
) -> None:
    with scene(tmp_path, settings, version=OLD) as old:
        begin(old)
        old.hive.put("sales", NEXT, size=2600)
        TableSweep.objects.update(inspected_at=timezone.now())
        TargetProbe.objects.update(probed_at=None)
        assert sweep(old.row, clock=timezone.now).diverged == 1
        assert states() == [Freshness.DIVERGED] * 3
        RefreshTarget.objects.update(due_at=timezone.now())
        old.work()
        assert all("partitions=3/3" in text for text in old.costs("ext.sales_in_sr"))
        assert swept(old).diverged == 0
        assert Freshness.DIVERGED not in states()


def test_the_worker_sweeps_and_so_does_the_command(
    set_: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    set_.lake.write("sales", DAY, 260_000)
    call_command("refresh_sweep", "bi")
    said = capsys.readouterr().out
    assert said.startswith("bi: 2 directories of 1 tables checked")
    set_.work()
    set_.lake.write("sales", DAY, 520_000)
    TableSweep.objects.update(inspected_at=None)
    old = statement(set_.target, began=timezone.now() - timedelta(days=91))
    set_.worker._swept_at[set_.row.pk] = timezone.now() - timedelta(minutes=1)
    set_.worker.turn()
    assert set_.worker.wait_idle(10)
    assert ChangedPartition.objects.get().name == DAY
    assert not Refresh.objects.filter(pk=old.pk).exists(), "and forgets what is long over"


def get_port(settings: Any) -> int:
    lakes = json.loads(settings.LAKEWARDEN_LAKES.read_text(encoding="utf-8"))
    return int(lakes["main"]["thrift_port"])
