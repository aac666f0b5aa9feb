"""The small decisions of acting: holds, staging names, changed facts, failpoints, probes, purge."""

import dataclasses
import os
import signal
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from lifecycle.backup.domain.control import Control, HoldRule
from lifecycle.backup.domain.layout import (
    BackupRef,
    Day,
    batch_of_intent,
    first_batch,
    item_name,
    read_claimed,
    read_restore_file,
    restore_done_name,
    restore_intent_name,
)
from lifecycle.backup.engine.facts import (
    ActItem,
    Policy,
    being_written,
    changes,
    file_changes,
    was_read_since,
)
from lifecycle.backup.engine.journal.reading import JournalBatch
from lifecycle.backup.engine.journal.records import BatchDone, BatchIntent, FileFact, Generation
from lifecycle.backup.engine.purge.batches import PurgeBatch, purge_refusal
from lifecycle.backup.engine.purge.probes import Probed, judge_probe
from portal.connectors.file_status import FileStatus
from portal.lake.errors import RuleViolation
from portal.lake.paths import LakePath
from portal.safety.failpoints import Failpoints

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
FILE = FileFact("a", False, 10, 5_000, "o", "g", 0o644)
ITEM = ActItem("d", "t", "dt=1", "file:///x/dt=1", 100, 200, 1, 60, 5_000, 1, 10)


@pytest.mark.parametrize(
    ("hold", "partition", "is_held"),
    [
        (HoldRule("d"), "dt=1", True),
        (HoldRule("d", "t"), "dt=1", True),
        (HoldRule("d", "u"), "dt=1", False),
        (HoldRule("e"), "dt=1", False),
        (HoldRule("d", "t", "dt=1"), "dt=1", True),
        (HoldRule("d", "t", "dt=1"), "dt=1/h=2", True),
        (HoldRule("d", "t", "dt=1"), "dt=10", False),
        (HoldRule("d", "t", "dt=1"), "", True),
        (HoldRule("d", "t", partitions=frozenset({"dt=0", "dt=1"})), "dt=1", True),
        (HoldRule("d", "t", partitions=frozenset({"dt=0", "dt=1"})), "dt=1/h=2/m=3", True),
        (HoldRule("d", "t", partitions=frozenset({"dt=0", "dt=1/h=2"})), "dt=1", False),
        (HoldRule("d", "t", partitions=frozenset({"dt=0", "dt=1"})), "", True),
        (HoldRule("d", "u", partitions=frozenset({"dt=0", "dt=1"})), "dt=1", False),
        (HoldRule("d", "t", "dt=1", until=NOW), "dt=1", False),
        (HoldRule("d", "t", "dt=1", until=NOW + timedelta(seconds=1)), "dt=1", True),
    ],
)
def test_a_hold_covers_what_it_names_and_all_below(
    hold: HoldRule, partition: str, is_held: bool
) -> None:
    found = Control(holds=(hold,)).hold_on("d", "t", partition, now=NOW)
    assert (found is not None) is is_held


def test_the_red_button_comes_before_a_cancel() -> None:
    assert Control.read({}).stop == ""
    assert Control.read({"cancel": True, "by": "ann"}).stop == "cancelled by ann"
    both = Control.read({"cancel": True, "by": "ann", "red_button": "fire"})
    assert both.stop == "emergency stop: fire"
    assert both.paused


@pytest.mark.parametrize(
    ("path", "is_written"),
    [
        ("_temporary/0/x", True),
        ("h=1/.hive-staging_hive_2026", True),
        (".spark-staging-1/dt=1", True),
        ("_SUCCESS", False),
        ("my_temporary", False),
        (".hidden", False),
    ],
)
def test_staging_names_show_a_running_job(path: str, is_written: bool) -> None:
    assert (being_written([path]) is not None) is is_written


def test_each_fact_that_changed_is_named() -> None:
    same = Generation(100, 200, "anything")
    place = LakePath.parse(ITEM.location)
    assert changes(ITEM, generation=same, location=place, policy=Policy(1, 60)) == []
    other = Generation(101, None, "anything")
    found = changes(ITEM, generation=other, location=place.parent, policy=Policy(0, None))
    assert [text.split(" was ")[0] for text in found] == [
        "create time",
        "DDL time",
        "location",
        "LEVEL",
        "TTL",
    ]


def test_files_are_compared_as_the_scan_counted_them() -> None:
    assert file_changes(ITEM, [FILE]) == []
    checksum = dataclasses.replace(FILE, path=".a.crc", mtime_ms=FILE.mtime_ms)
    assert len(file_changes(ITEM, [FILE, checksum])) == 2
    assert len(file_changes(ITEM, [FILE, dataclasses.replace(FILE, path="b", mtime_ms=6_000)])) == 3
    unknown = dataclasses.replace(ITEM, mtime_ms=None, n_files=None, n_bytes=None)
    assert file_changes(unknown, [FILE, checksum]) == []


def test_a_time_of_a_name_nodes_image_is_compared_by_minute() -> None:
    minute = 1_700_000_160_000
    imaged = dataclasses.replace(ITEM, mtime_ms=minute - 1)
    for exact, is_same in ((minute - 60_000, True), (minute - 36_544, True), (minute, False)):
        found = file_changes(imaged, [dataclasses.replace(FILE, mtime_ms=exact)])
        assert (found == []) is is_same, found
    precise = dataclasses.replace(ITEM, mtime_ms=minute - 2)
    assert file_changes(precise, [dataclasses.replace(FILE, mtime_ms=minute - 3)])


@pytest.mark.parametrize(
    ("changed", "read", "found"),
    [(10, 99, None), (10, 101, 101), (10, 100, None), (200, 200, None), (10, None, None)],
)
def test_only_a_read_after_the_scan_and_after_the_write_counts(
    changed: int, read: int | None, found: int | None
) -> None:
    place = LakePath.parse("/t/f")
    status = FileStatus(place, False, 1, changed, read, "o", "g", 0o644)
    folder = dataclasses.replace(status, is_dir=True, mtime_ms=1, atime_ms=999)
    assert was_read_since([folder, status], 100) == found


def test_failpoints_need_the_enabling_variable() -> None:
    Failpoints.from_environment({"LW_FAILPOINT": "x:before:kill"}).reach("x:before")
    with pytest.raises(RuleViolation):
        Failpoints("x:sometimes:kill")


def test_a_failpoint_strikes_at_the_nth_time() -> None:
    code = (
        "from portal.safety.failpoints import Failpoints; f = Failpoints.from_environment()\n"
        "for n in range(3):\n    print(n, flush=True)\n    f.reach('rename:after')\n"
    )
    died = subprocess.run(
        [sys.executable, "-c", code],
        env={
            **os.environ,
            "LW_FAILPOINTS_ENABLED": "1",
            "LW_FAILPOINT": "rename:after:kill:2",
        },
        capture_output=True,
        check=False,
    )
    assert died.returncode == -signal.SIGKILL
    assert died.stdout.split() == [b"0", b"1"]


def test_names_of_directories_and_files_are_read_back() -> None:
    day = Day(LakePath.parse("hdfs://nn/backup"), date(2026, 11, 22))
    assert str(day.open("r-1", 2)) == "hdfs://nn/backup/2026-11-22/open/r-1/2"
    assert str(day.sealed("r-1", 2)) == "hdfs://nn/backup/2026-11-22/sealed/r-1/2"
    assert read_claimed(BackupRef("r-1", 2).claimed_name) == BackupRef("r-1", 2)
    assert read_claimed("lease.json") is None
    assert batch_of_intent("intent.12.json") == 12
    assert batch_of_intent("restore.r.1.12.intent.json") is None
    started = read_restore_file(restore_intent_name("r", 1, 12))
    ended = read_restore_file(restore_done_name("r", 1, 12))
    assert started is not None
    assert ended is not None
    assert (started.stem, started.batch, started.is_done) == (ended.stem, 12, False)
    assert ended.is_done
    assert item_name(1, 2) == "b0000001-i002"
    assert first_batch(2) > first_batch(1) + 50_000
    with pytest.raises(RuleViolation):
        day.open("../x", 1)


def test_a_probe_weighs_damage_more_than_late_data() -> None:
    grown = dataclasses.replace(FILE, size=99)
    assert judge_probe((FILE,), live=(), backup=(FILE,))[0] is Probed.CLEAN
    assert judge_probe((FILE,), live=(FILE,), backup=(FILE,))[0] is Probed.LATE_COMMIT
    assert judge_probe((FILE,), live=(FILE,), backup=())[0] is Probed.DAMAGED
    assert judge_probe((FILE,), live=(), backup=(grown,))[0] is Probed.GREW
    empty = dataclasses.replace(FILE, path="", is_dir=True)
    assert judge_probe((FILE,), live=(empty,), backup=(FILE,))[0] is Probed.CLEAN


def _purge(**changed: Any) -> str | None:
    intent = BatchIntent(
        "r", 1, 7, "main", "d", "t", "ann", "p", "g", "", changed.pop("keep", 15), "", ()
    )
    dropped = NOW - timedelta(days=20)
    done = BatchDone("r", 1, 7, dropped.isoformat(), "driver", ())
    directory = LakePath.parse("file:///b/2026-11-02/purging/p/1/r.1")
    wanted = PurgeBatch("id", "d.t, batch 7", directory, 7, "sha", dropped + timedelta(days=15))
    settled = changed.pop("settled", True)
    batch = JournalBatch(directory, intent, done if settled else None, "sha")
    now, live = changed.pop("now", NOW), changed.pop("live", "")
    return purge_refusal(batch, dataclasses.replace(wanted, **changed), now=now, live=live)


def test_a_purge_needs_every_condition() -> None:
    assert _purge() is None
    assert _purge(settled=False) == "its run was not settled"
    assert _purge(manifest_sha256="other") == "its manifest is not the one in the catalogue"
    assert _purge(purge_after=NOW + timedelta(seconds=1)) == "its days are not over"
    assert _purge(now=NOW - timedelta(days=6)) == "its days are not over"
    assert _purge(keep=21) == "its days are not over"
    assert _purge(keep=1, now=NOW - timedelta(days=6)) == "its days are not over"
    assert str(_purge(live="file:/b/2026-11-02/x")).endswith("of its day: file:/b/2026-11-02/x")
