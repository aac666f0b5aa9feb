"""What a rewrite cannot do: each table gets its word, nothing is left, the rest goes on."""

import subprocess
import threading
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError

from optimizer.core.domain.tasks import TaskKind
from optimizer.iceberg.access.jobs.errors import CONFLICT, DISK_FULL, FILE_CORRUPT, FILE_MISSING
from optimizer.iceberg.rewrite.jobs.bin_packing import MAX_GROUP_FILES, BinPacking, pick
from optimizer.iceberg.rewrite.jobs.planning import plan_files
from tests.support.iceberg_lake import DAYS, IcebergLake, WrittenTable, small_files
from tests.support.iceberg_staged import swept

pytestmark = pytest.mark.spark
N_FILES = 50_000


def data_file(table: WrittenTable, day: str) -> Path:
    """Return one of a day's files on the disk."""
    found = sorted(row["file_path"] for row in table.files() if row["partition"]["dt"] == day)
    return Path(found[0].removeprefix("file:"))


def check_nothing_left(table: WrittenTable) -> None:
    """What failed leaves at most a marker, and the next sweep takes that."""
    left = table.unknown_files()
    assert all("/_lakewarden/" in path for path in left), left
    swept(table)
    assert table.unknown_files() == set()


@pytest.mark.parametrize(
    "how",
    [
        pytest.param("missing", marks=pytest.mark.long),
        "corrupt",
        pytest.param("other bytes", marks=pytest.mark.long),
    ],
)
def test_a_file_that_cannot_be_read_stops_its_own_group_alone(
    iceberg_lake: IcebergLake, how: str
) -> None:
    lake = iceberg_lake
    table = small_files(lake.table(), 3)
    file = data_file(table, DAYS[0])
    whole, checksum = file.read_bytes(), file.with_name(f".{file.name}.crc")
    sums = checksum.read_bytes()
    if how == "missing":
        file.unlink()
    else:
        file.write_bytes(b"x" * len(whole))
    if how == "corrupt":
        # Without its checksum the file system gives what it has.
        checksum.unlink()

    (result,) = lake.optimize(lake.task(table))

    code = FILE_MISSING if how == "missing" else FILE_CORRUPT
    assert (result["outcome"], result["code"]) == ("PARTIAL", code), result
    assert table.name in result["reason"]
    assert "Restore the file" in result["reason"]
    assert [one["partition"] for one in result["commits"]] == [f"dt={DAYS[1]}"]
    file.write_bytes(whole)
    checksum.write_bytes(sums)
    assert len(table.rows()) == 18
    assert len(table.files()) == 4
    check_nothing_left(table)
    (later,) = lake.optimize(lake.task(table))
    assert later["outcome"] == "DONE", later


@contextmanager
def little_room(folder: Path) -> Iterator[None]:
    """Put a disk of 64 KB at a folder."""
    folder.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "lakewarden", folder], check=True)
    try:
        yield
    finally:
        # Detached at once: a write that failed may hold its file until its JVM collects garbage.
        subprocess.run(["umount", "--lazy", folder], check=True)


def test_a_full_disk_ends_the_task_and_the_room_is_given_back(iceberg_lake: IcebergLake) -> None:
    lake = iceberg_lake
    table, other = lake.table(), small_files(lake.table(), 2)
    for seed in range(2):
        rows = lake.spark.range(4_000).selectExpr(
            f"id + {4_000 * seed} AS id",
            f"IF(id < 2000, '{DAYS[0]}', '{DAYS[1]}') AS dt",
            f"sha2(string(id + {seed}), 512) AS word",
        )
        rows.coalesce(1).writeTo(table.sql).append()
    place = Path(table.opened.location.removeprefix("file:"))
    with little_room(place / "data" / "lakewarden"):
        result, after = lake.optimize(lake.task(table), lake.task(other, 2))
        left = [path for path in (place / "data" / "lakewarden").rglob("*") if path.is_file()]
    assert (result["outcome"], result["code"]) == ("FAILED", DISK_FULL), result
    assert table.name in result["reason"]
    assert "Make room" in result["reason"]
    assert (left, result["commits"]) == ([], [])
    assert after["outcome"] == "DONE", after
    assert len(table.rows()) == 8_000
    check_nothing_left(table)
    (later,) = lake.optimize(lake.task(table))
    assert later["outcome"] == "DONE", later


@pytest.mark.long
def test_a_table_named_like_a_full_disk_is_told_of_its_missing_file(
    iceberg_lake: IcebergLake,
) -> None:
    table = small_files(iceberg_lake.table(name="quota_of_disks"), 2)
    data_file(table, DAYS[0]).unlink()
    (result,) = iceberg_lake.optimize(iceberg_lake.task(table))
    assert (result["outcome"], result["code"]) == ("PARTIAL", FILE_MISSING), result
    table.say("DROP TABLE {t}")


@pytest.mark.long
def test_fifty_thousand_files_of_one_partition_are_planned_in_little_memory(
    iceberg_lake: IcebergLake,
) -> None:
    table = iceberg_lake.table()
    table.append([(1, DAYS[0], "real")])
    add_entries(table, N_FILES)
    tracemalloc.start()
    started = time.monotonic()
    try:
        (partition,) = plan_files(table.opened).partitions
        groups = pick(partition.files, BinPacking(TaskKind.MINOR, 1 << 20, 1 << 40))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(partition.files) == N_FILES + 1
    assert len(groups) == -(-N_FILES // MAX_GROUP_FILES) + 1
    assert all(len(group.files) <= MAX_GROUP_FILES for group in groups)
    assert most < 100 << 20
    assert time.monotonic() - started < 30


def add_entries(table: WrittenTable, n: int) -> None:
    """Register that many files that nobody wrote, inside the JVM."""
    opened, iceberg = table.opened, "org.apache.iceberg."
    jvm, columns = opened.jvm, opened.columns
    (task,) = [plan_files(opened).partitions[0].tasks.get(0)]
    builder = jvm.org.apache.iceberg.DataFiles.builder(opened.java.spec()).copy(task.file())
    append = opened.java.newAppend()
    numbers = jvm.java.util.stream.IntStream.range(0, n).boxed().toList()
    steps = (
        columns.step("java.lang.String", "valueOf", "java.lang.Object"),
        columns.step("java.lang.String", "concat", "java.lang.String", of=f"{opened.location}/x"),
        columns.step(f"{iceberg}DataFiles$Builder", "withPath", "java.lang.String", of=builder),
        columns.step(f"{iceberg}DataFiles$Builder", "build"),
        columns.step(f"{iceberg}AppendFiles", "appendFile", f"{iceberg}DataFile", of=append),
    )
    columns.mapped(numbers, *steps).collect(jvm.java.util.stream.Collectors.counting())
    append.commit()


LAYOUTS = {
    "hilbert(id,s)": "layout.type",
    "zorder(id,m)": "layout.type",
    "sort(b)": "layout.type",
    "sort(l)": "layout.type",
    "hilbert(id,dt,word,a,c)": "layout.columns",
    "hilbert(id,none)": "layout.missing",
    "spiral(id)": "layout.form",
}


@pytest.mark.long
def test_layouts_that_cannot_be_are_refused_with_the_tables_name(iceberg_lake: IcebergLake) -> None:
    lake = iceberg_lake
    table = small_files(lake.table(), 2)
    table.say(
        "ALTER TABLE {t} ADD COLUMNS (s STRUCT<a: INT>, m MAP<STRING, INT>, b BINARY, "
        "l ARRAY<INT>, a INT, c INT)"
    )
    files = table.files()
    tasks = [lake.task(table, n, kind="CLUSTER", layout=one) for n, one in enumerate(LAYOUTS)]
    for (layout, code), result in zip(LAYOUTS.items(), lake.optimize(*tasks), strict=True):
        assert (result["outcome"], result["code"]) == ("FAILED", code), result
        assert table.name in result["reason"]
        assert (layout in result["reason"]) == (code != "layout.missing"), (
            "there the column is named"
        )
    assert table.files() == files
    assert table.unknown_files() == set()


@pytest.mark.long
def test_a_table_without_rows_has_nothing_to_do_whatever_is_asked(
    iceberg_lake: IcebergLake,
) -> None:
    lake = iceberg_lake
    never, no_more = lake.table(), small_files(lake.table(), 1)
    no_more.say("DELETE FROM {t}")
    asked: list[dict[str, Any]] = [
        *({"kind": kind} for kind in ("MINOR", "MAJOR", "FULL", "DELETES")),
        *({"kind": "CLUSTER", "layout": layout} for layout in ("hilbert(id,word)", "sort(id)")),
    ]
    tasks = [
        lake.task(table, n, **changed)
        for table in (never, no_more)
        for n, changed in enumerate(asked)
    ]
    results = lake.optimize(*tasks)
    assert [one["outcome"] for one in results] == ["NOTHING"] * len(tasks), results
    assert never.unknown_files() | no_more.unknown_files() == set()


@pytest.mark.long
def test_a_writer_that_never_rests_is_given_way_to_and_no_job_turns_for_ever(
    iceberg_lake: IcebergLake,
) -> None:
    lake = iceberg_lake
    table = small_files(lake.table(), 6)
    gone: list[int] = []
    has_begun, is_over = threading.Event(), threading.Event()

    def write() -> None:
        for key in range(60):
            if is_over.is_set():
                return
            try:
                table.say("DELETE FROM {t} WHERE id = {key}", key=key)
            except Py4JJavaError as error:
                # The files were replaced while it wrote: of two at once Iceberg lets one win.
                if "missing data files" not in str(error):
                    raise
                continue
            table.append([(1000 + key, DAYS[key % 2], "late")])
            gone.append(key)
            has_begun.set()

    before = {row["id"] for row in table.rows()}
    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert has_begun.wait(60)
        (result,) = lake.optimize(lake.task(table, kind="FULL", max_commits=2))
    finally:
        is_over.set()
        writer.join()
    assert result["outcome"] in {"DONE", "PARTIAL", "ABANDONED"}, result
    assert result["outcome"] == "DONE" or (result["code"], bool(result["reason"])) == (
        CONFLICT,
        True,
    )
    assert {row["id"] for row in table.rows()} == (before - set(gone)) | {
        1000 + key for key in gone
    }
    assert table.unknown_files() == set()
