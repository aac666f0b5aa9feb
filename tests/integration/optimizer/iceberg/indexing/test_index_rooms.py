"""A disk without room and one that nobody may write: told clearly, nothing published, resumed."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from optimizer.iceberg.access.jobs.errors import DISK_FULL
from tests.support.iceberg_indexes import folder_of, index, locations, names, newest
from tests.support.iceberg_lake import IcebergLake, WrittenTable

WANTED = ("id:bloom", "word:bitmap")
SMALL = "size=16k"


@contextmanager
def disk(folder: Path, option: str) -> Iterator[None]:
    """Put a disk of its own at a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", option, "lakewarden", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def made(lake: IcebergLake) -> WrittenTable:
    """Return a table with one index, and a file of 20,000 rows that has none yet."""
    table = lake.table(by="")
    table.append([(1, "2026-05-01", "first")])
    assert index(table, *WANTED)["outcome"] == "DONE"
    frame = lake.spark.range(10, 20_010, 1, 1)
    frame.selectExpr("id", "'x' AS dt", "concat('w', id % 5000) AS word").writeTo(
        table.sql
    ).append()
    return table


def finishes(table: WrittenTable) -> None:
    assert index(table, *WANTED)["outcome"] == "DONE"
    assert set(newest(table).covered) == locations(table)


def test_without_room_for_an_index_file_nothing_is_published_and_nothing_stays(
    iceberg_lake: IcebergLake,
) -> None:
    table = made(iceberg_lake)
    before = newest(table)
    with disk(folder_of(table) / "files", SMALL):
        result = index(table, *WANTED)
        left = names(table, "files")
    assert (result["outcome"], result["code"], left) == ("FAILED", DISK_FULL, []), result
    assert "Make room or raise the quota" in result["reason"]
    assert newest(table) == before
    finishes(table)


def test_without_room_for_a_manifest_readers_keep_the_one_before(iceberg_lake: IcebergLake) -> None:
    table = made(iceberg_lake)
    place = folder_of(table) / "manifests"
    (first,) = names(table, "manifests")
    whole = (place / first).read_bytes()
    with disk(place, SMALL):
        (place / first).write_bytes(whole)
        with (place / "filler").open("wb") as filler:
            filler.write(bytes(12 << 10))
        result = index(table, *WANTED)
        assert names(table, "manifests") == ["filler", first]
        assert set(newest(table).covered) < locations(table)
    assert (result["outcome"], result["code"]) == ("FAILED", DISK_FULL), result
    assert (result["commits"], "built" in result["reason"]) == ([], False), result
    finishes(table)


def test_a_place_that_is_read_only_is_named_before_anything_is_read(
    iceberg_lake: IcebergLake,
) -> None:
    table = made(iceberg_lake)
    with disk(folder_of(table), "ro"):
        result = index(table, *WANTED)
    assert (result["outcome"], result["code"]) == ("FAILED", "index.not_writable"), result
    assert "Read-only file system" in result["reason"] or "cannot be created" in result["reason"]
    assert "Allow the portal's account to write there" in result["reason"]
    finishes(table)
