"""Indexes are published whole or not at all, go with their data files, and with nothing else."""

import gzip
import json
import os
import time
from datetime import UTC, datetime, timedelta
from threading import Barrier, Thread
from typing import Any
from uuid import uuid4

import pytest

from optimizer.iceberg.indexing.jobs.store import IndexStore
from optimizer.indexes.domain.envelope import Kind
from optimizer.indexes.domain.manifest import Manifest, manifest_name
from portal.lake.errors import PortalError
from tests.support.iceberg_indexes import folder_of, index, locations, names, newest
from tests.support.iceberg_lake import IcebergLake, WrittenTable, small_files

NOW = datetime(2026, 5, 1, tzinfo=UTC)


class Death(BaseException):
    """The end of the process, as far as a test in one process can have it."""


def die_at(monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    def reach(_: object, at: str) -> None:
        if at == moment:
            raise Death

    monkeypatch.setattr("portal.safety.failpoints.Failpoints.reach", reach)


@pytest.mark.parametrize("moment", ["puffin:after", "manifest:before", "manifest:after"])
def test_what_died_amid_publishing_leaves_nothing_broken_and_the_next_run_finishes(
    iceberg_lake: IcebergLake, moment: str
) -> None:
    table = small_files(iceberg_lake.table(by=""), 2)
    assert index(table, "id:bloom")["outcome"] == "DONE"
    before = newest(table)
    table.append([(77, "2026-05-01", "late")])
    with pytest.MonkeyPatch.context() as patch:
        die_at(patch, moment)
        with pytest.raises(Death):
            index(table, "id:bloom")
    assert newest(table) == before
    assert index(table, "id:bloom")["commits"][0]["n_indexed_files"] == 1
    assert set(newest(table).covered) == locations(table)
    assert len(names(table, "files")) == 3, "what the dead one wrote waits for its day"
    make_old(table)
    index(table, "id:bloom")
    assert len(names(table, "files")) == 2
    assert not [name for name in names(table, "manifests") if name.startswith(".v")]


def make_old(table: WrittenTable) -> None:
    """Have everything in the store be two days old."""
    then = time.time() - timedelta(days=2).total_seconds()
    for path in folder_of(table).rglob("*"):
        if path.is_file():
            os.utime(path, (then, then))


def test_builders_at_one_moment_lose_nothing(iceberg_lake: IcebergLake) -> None:
    table = small_files(iceberg_lake.table(by=""), 1)
    assert index(table, "id:bloom")["outcome"] == "DONE"
    (location,) = locations(table)
    mine = newest(table).covered[location]
    n_writers, barrier, failed = 4, Barrier(4), []

    def publish(n: int) -> None:
        store = IndexStore(table.opened)

        def change(manifest: Manifest) -> Manifest:
            blobs = {(100 + n, Kind.BLOOM.value): mine.blobs[1, "bloom"]}
            return manifest.adding([type(mine)(mine.data_file, blobs)])

        try:
            barrier.wait()
            store.publish(change, now=NOW)
        except BaseException as error:
            failed.append(error)

    threads = [Thread(target=publish, args=(n,)) for n in range(n_writers)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not failed
    assert {key for key, _ in newest(table).covered[location].blobs} == {1, 100, 101, 102, 103}


def test_entries_go_with_the_last_snapshot_that_names_their_file(iceberg_lake: IcebergLake) -> None:
    lake = iceberg_lake
    table = small_files(lake.table(by=""), 3)
    assert index(table, "id:bloom")["outcome"] == "DONE"
    old = set(newest(table).covered)
    task = lake.task(table, kind="FULL", index_columns=["id:bloom"])
    (rewritten,) = lake.optimize(task)
    assert rewritten["outcome"] == "DONE", rewritten
    covered = set(newest(table).covered)
    assert covered == old | locations(table), "the same run covered what it wrote"
    assert rewritten["after"]["indexed_snapshot_id"] == table.opened.snapshot_id
    assert "1 index of 1 data file built" in rewritten["reason"]

    opened = table.opened
    later = int(datetime(2100, 1, 1, tzinfo=UTC).timestamp() * 1000)
    opened.actions().expireSnapshots(opened.java).expireOlderThan(later).retainLast(1).execute()
    result = index(table, "id:bloom")
    assert "Indexes of 3 data files that left the table were dropped." in result["reason"]
    assert set(newest(table).covered) == locations(table)
    assert len(names(table, "files")) == 2
    make_old(table)
    for _ in range(3):
        table.append([(5, "x", "y")])
        index(table, "id:bloom")
    assert names(table, "files") == newest(table).files(), "that of the dead files went"
    assert len(names(table, "manifests")) < 7


def test_removal_of_orphans_leaves_indexes_alone(iceberg_lake: IcebergLake) -> None:
    table = small_files(iceberg_lake.table(by=""), 1)
    index(table, "id:bloom")
    make_old(table)
    before = (names(table, "manifests"), names(table, "files"))
    opened = table.opened
    stray = folder_of(table).parent.parent / "data" / "stray.parquet"
    stray.write_bytes(b"nobody's")
    os.utime(stray, (0, 0))
    then = int((datetime.now(UTC) - timedelta(hours=25)).timestamp() * 1000)
    opened.actions().deleteOrphanFiles(opened.java).olderThan(then).execute()
    assert not stray.exists()
    assert (names(table, "manifests"), names(table, "files")) == before
    assert before[1]


def test_columns_that_nobody_asks_for_any_more_lose_their_indexes(
    iceberg_lake: IcebergLake,
) -> None:
    table = small_files(iceberg_lake.table(by=""), 2)
    index(table, "id:bloom", "word")
    index(table, "word")
    assert {key[0] for one in newest(table).covered.values() for key in one.blobs} == {3}
    result = index(table)
    assert result["outcome"] == "NOTHING"
    assert newest(table).covered == {}
    assert "dropped" in result["reason"]


def test_damaged_foreign_and_newer_manifests(iceberg_lake: IcebergLake) -> None:
    table = small_files(iceberg_lake.table(by=""), 1)
    index(table, "id:bloom")
    place = folder_of(table) / "manifests"
    (first,) = names(table, "manifests")
    whole = (place / first).read_bytes()
    (place / manifest_name(2, uuid4())).write_bytes(whole[:-20])
    data: dict[str, Any] = json.loads(gzip.decompress(whole))
    foreign = {**data, "table_uuid": str(uuid4())}
    (place / manifest_name(3, uuid4())).write_bytes(gzip.compress(json.dumps(foreign).encode()))
    table.append([(5, "x", "y")])
    result = index(table, "id:bloom")
    assert result["commits"][0]["n_indexed_files"] == 1, "what can be read still holds"
    assert "passed over" in result["reason"]
    assert newest(table).sequence == 4
    assert set(newest(table).covered) == locations(table)

    newer = manifest_name(9, uuid4())
    (place / newer).write_bytes(gzip.compress(json.dumps({**data, "version": 2}).encode()))
    refused = index(table, "id:bloom")
    assert (refused["outcome"], refused["code"]) == ("FAILED", "index.newer")
    assert names(table, "manifests")[-1] == newer


def test_a_place_that_cannot_be_written_is_one_clear_error(iceberg_lake: IcebergLake) -> None:
    table = small_files(iceberg_lake.table(by=""), 1)
    place = folder_of(table)
    place.parent.mkdir(exist_ok=True)
    place.write_text("a file where the folder should be")
    result = index(table, "id:bloom")
    assert (result["outcome"], result["code"]) == ("FAILED", "index.not_writable"), result
    place.unlink()
    place.mkdir()
    store = IndexStore(table.opened)
    (place / "manifests").mkdir()
    (place / "files").write_text("no folder")
    with pytest.raises(PortalError, match="cannot be written below"):
        store.write_puffin([b"PFA1"])
