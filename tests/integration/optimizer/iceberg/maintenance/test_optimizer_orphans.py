"""Orphan files of real tables: what nothing names goes after approval, and nothing else ever."""

import os
import shutil
import time
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from optimizer.iceberg.inspect.jobs.files import Asked, partition_rows
from optimizer.iceberg.maintenance.domain.quarantine import MANIFEST, read_manifest
from optimizer.iceberg.maintenance.jobs import quarantine
from optimizer.removals.domain.papers import FENCE
from portal.safety.fence import LEASE_LENGTH, write_lease
from portal.spark.job import JobContext
from tests.support.iceberg_lake import DAYS, IcebergLake, WrittenTable, small_files
from tests.support.removals import DAY, Removals, abandon, on_disk, place, planted, refs_of
from tests.support.scan_spark import job_for


def aged(table: WrittenTable, *, days: float = 30) -> None:
    """Make all that the table has as old as orphans are."""
    at = time.time() - days * DAY
    for path in place(table).rglob("*"):
        os.utime(path, (at, at))


def removals(table: WrittenTable) -> Removals:
    return Removals(table.lake, table, kind="ORPHANS", now=datetime.now(UTC))


def test_what_nothing_names_and_is_old_goes_after_it_was_looked_at_again(
    iceberg_lake: IcebergLake,
) -> None:
    table = small_files(iceberg_lake.table(), 3)
    table.say("DELETE FROM {t} WHERE id = 1")
    refs_of(table).createBranch("audit", table.snapshots()[-1]["snapshot_id"]).commit()
    table.say("INSERT INTO {t}.branch_audit VALUES (77, '2026-05-01', 'aside')")
    table.say("INSERT OVERWRITE {t} VALUES (1, '2026-05-01', 'new')")
    aged(table)
    rows, aside = table.rows(), table.rows(branch="audit")
    names = ("data/dt=2026-05-01/a b%20c é.parquet", "data/gone/b.parquet", "metadata/c.avro")
    orphans = [planted(table, name) for name in names]
    rewritten = planted(table, "data/rewritten.parquet")
    young = planted(table, "data/young.parquet", days=2.9)
    hidden = [planted(table, "data/_tmp/d.parquet"), planted(table, "_index/e.puffin")]
    # The same name under another path: somebody's spelling of a file that the table has.
    doubtful = planted(table, f"copy/{Path(table.files()[0]['file_path']).name}")
    work = removals(table)
    before = on_disk(table)

    told = work.draw_up()["proposal"]

    assert on_disk(table) == before
    listed = [f"file://{path}" for path in (*orphans, rewritten)]
    assert sorted(told["sample"]) == sorted(listed)
    assert (told["n_items"], told["n_bytes"]) == (4, 40)
    assert told["stays"]["KNOWN"] > 10
    assert (told["stays"]["HIDDEN"] >= 2, told["stays"]["DOUBTFUL"]) == (True, 1)
    assert told["stays"]["YOUNG"] >= 1

    planted(table, "data/rewritten.parquet", days=4, size=11)
    table.append([(900, DAYS[0], "after the approval")])
    done = work.act(told)

    assert (done["outcome"], done["removed"]["n_files"]) == ("DONE", 3), done
    assert done["removed"]["n_bytes"] == 30
    assert "1 gone or written again since" in done["reason"]
    assert [path.exists() for path in orphans] == [False] * 3
    assert all(path.exists() for path in (rewritten, young, *hidden, doubtful))
    assert len(table.rows()) == len(rows) + 1
    assert table.rows(branch="audit") == aside
    assert table.rows(snapshot_id=table.snapshots()[0]["snapshot_id"])
    kept = Path(work.aside.path)
    manifest = (kept / MANIFEST).read_bytes()
    assert sha256(manifest).hexdigest() == told["digest"]
    head, held = read_manifest(manifest, digest=told["digest"])
    assert head["quarantine_days"] == 7
    lying = {one.path for one in held if (kept / one.name).exists()}
    assert lying == {f"file://{path}" for path in orphans}
    again = work.act(told)
    assert (again["outcome"], again["removed"]) == ("NOTHING", None)


def test_a_file_that_became_part_of_the_table_since_stays(iceberg_lake: IcebergLake) -> None:
    table = small_files(iceberg_lake.table(by=""), 1)
    (source,) = table.files()
    orphan = planted(table, "data/late.parquet")
    shutil.copyfile(source["file_path"].removeprefix("file:"), orphan)
    at = time.time() - 5 * DAY
    os.utime(orphan, (at, at))
    work = removals(table)
    told = work.draw_up()["proposal"]
    assert told["sample"] == [f"file://{orphan}"]
    java = table.opened
    builder = java.jvm.org.apache.iceberg.DataFiles.builder(java.java.spec())
    file = builder.withPath(f"file:{orphan}").withFileSizeInBytes(orphan.stat().st_size)
    java.java.newAppend().appendFile(file.withFormat("parquet").withRecordCount(6).build()).commit()
    left = work.act(told)
    assert (left["outcome"], left["removed"]) == ("NOTHING", None), left
    assert "1 that the table knows" in left["reason"]
    assert len(table.rows()) == 12


@pytest.mark.parametrize(
    "what",
    [
        *("gc", "staging", "partition"),
        *(
            pytest.param(what, marks=pytest.mark.long)
            for what in ("staging later", "inside", "above")
        ),
    ],
)
def test_on_doubt_whose_files_they_are_nothing_goes(iceberg_lake: IcebergLake, what: str) -> None:
    lake = iceberg_lake
    table = small_files(lake.table(), 1)
    orphan = planted(table, "data/x.parquet")
    work, location = removals(table), table.opened.location
    told = work.draw_up()["proposal"]
    if what == "gc":
        table.say("ALTER TABLE {t} SET TBLPROPERTIES ('gc.enabled' = 'false')")
    elif what in ("staging", "staging later"):
        planted(table, "_lakewarden/other-portal.run-1.g1", days=0 if what == "staging" else 9)
    else:
        where = {"inside": f"{location}/deeper", "above": str(Path(location).parent)}
        lake.spark.sql(
            f"CREATE TABLE lake.{lake.db}.{table.name}_near (id BIGINT) USING iceberg "
            f"LOCATION '{where.get(what, location + '//data/')}'"
        )
    try:
        for found in (work.act(told), work.draw_up()):
            code = {"gc": "gc", "staging": "staging"}.get(what.split(maxsplit=1)[0], "shared")
            assert (found["outcome"], found["code"]) == ("FAILED", f"removal.{code}"), found
        assert orphan.exists()
    finally:
        lake.spark.sql(f"DROP TABLE IF EXISTS lake.{lake.db}.{table.name}_near")


def test_a_stop_in_its_midst_leaves_the_rest_and_says_so(
    iceberg_lake: IcebergLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = small_files(iceberg_lake.table(), 1)
    for n in range(5):
        planted(table, f"data/x{n}.parquet")
    work = removals(table)
    told = work.draw_up()["proposal"]
    monkeypatch.setattr("optimizer.iceberg.maintenance.jobs.orphans.BATCH", 2)
    monkeypatch.setattr("optimizer.removals.jobs.guard._AGAIN_SECONDS", 600)
    found = work.act(told, stop_after=4)
    assert (found["outcome"], found["code"]) == ("PARTIAL", "run.cancelled"), found
    assert found["removed"]["n_files"] == 2
    assert len([path for path in on_disk(table) if "/x" in path]) == 3


def test_without_its_lease_or_its_fence_a_run_moves_nothing_more(
    iceberg_lake: IcebergLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = small_files(iceberg_lake.table(), 1)
    for n in range(5):
        planted(table, f"data/x{n}.parquet")
    work = removals(table)
    told = work.draw_up()["proposal"]
    late = work.act(told, lease=timedelta(seconds=-1))
    assert (late["outcome"], late["code"], late["removed"]) == ("FAILED", "act.fenced", None)
    monkeypatch.setattr("optimizer.iceberg.maintenance.jobs.orphans.BATCH", 2)
    monkeypatch.setattr("optimizer.removals.jobs.guard._AGAIN_SECONDS", 600)
    # The supervisor dies after the first batch: its last beat is too old, and then the lease ends.
    monkeypatch.setattr("portal.safety.fence._CHECK_AGAIN_SECONDS", 0.05)
    begun = time.monotonic()
    silent = work.act(told, stop_after=2, meanwhile=last_beat)
    assert (silent["outcome"], silent["code"]) == ("PARTIAL", "act.fenced"), silent
    assert silent["removed"]["n_files"] == 2
    # It waited for the second that its lease had left, and not for the minute of a whole one.
    assert time.monotonic() - begun < LEASE_LENGTH.total_seconds()
    given_up = work.act(told, stop_after=2, meanwhile=abandon)
    assert (given_up["outcome"], given_up["code"]) == ("FAILED", "act.fenced"), given_up
    assert len([path for path in on_disk(table) if "/x" in path]) == 3


@pytest.mark.parametrize("kind", ["ORPHANS", pytest.param("EXPIRE", marks=pytest.mark.long)])
def test_a_table_that_is_registered_there_in_its_midst_ends_it(
    iceberg_lake: IcebergLake, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    lake = iceberg_lake
    table = small_files(lake.table(), 2)
    table.say("INSERT OVERWRITE {t} VALUES (1, '2026-05-01', 'new')")
    for n in range(5):
        planted(table, f"data/x{n}.parquet")
    work = removals(table) if kind == "ORPHANS" else Removals(lake, table)
    told = work.draw_up()["proposal"]
    module = {"ORPHANS": "orphans", "EXPIRE": "expired_files"}[kind]
    monkeypatch.setattr(f"optimizer.iceberg.maintenance.jobs.{module}.BATCH", 2)
    monkeypatch.setattr("optimizer.removals.jobs.guard._AGAIN_SECONDS", 600)
    near = f"lake.{lake.db}.{table.name}_near"
    long = LEASE_LENGTH + timedelta(minutes=5)  # nobody renews it, on a slow machine neither

    def register(job: JobContext) -> None:
        lake.spark.sql(
            f"CREATE TABLE {near} (id BIGINT) USING iceberg "
            f"LOCATION '{table.opened.location}/deeper'"
        )
        until = datetime.now(UTC) + long
        write_lease(job.spool.fs, job.spool.root.child(FENCE), until=until)

    try:
        # At the lease's look in a step, just after the table's place was found to be its own: the
        # first batch of orphan files, and the second of an expiry, whose commit is a step too.
        n_files = 2 if kind == "ORPHANS" else 4
        found = work.act(told, lease=long, stop_after=n_files, meanwhile=register)
        assert (found["outcome"], found["code"]) == ("PARTIAL", "removal.shared"), found
        assert found["removed"]["n_files"] == n_files
    finally:
        lake.spark.sql(f"DROP TABLE IF EXISTS {near}")


def last_beat(job: JobContext) -> None:
    """Leave a lease that was renewed half a minute ago and ends in a second."""
    until = datetime.now(UTC) + timedelta(seconds=1)
    write_lease(job.spool.fs, job.spool.root.child(FENCE), until=until)


def test_after_its_days_exactly_what_was_approved_is_deleted(iceberg_lake: IcebergLake) -> None:
    table = small_files(iceberg_lake.table(by=""), 2)
    for n in range(4):
        planted(table, f"data/x{n}.parquet")
    work = removals(table)
    told = work.draw_up()["proposal"]
    assert work.act(told)["removed"]["n_files"] == 4
    aside = Path(work.aside.path)
    going = aside.with_name("p.going")
    aside.rename(going)
    # A stranger's file, one that is not as listed, and one that the table names again.
    (going / "f0000009").write_bytes(b"stranger")
    (going / "f0000000").write_bytes(b"another size")
    java = table.opened
    builder = java.jvm.org.apache.iceberg.DataFiles.builder(java.java.spec())
    file = builder.withPath(told["sample"][1]).withFileSizeInBytes(10).withFormat("parquet")
    java.java.newAppend().appendFile(file.withRecordCount(1).build()).commit()

    def deleted() -> str:
        order = {
            **{"quarantine": "q", "task": 1, "plan": "p", "digest": told["digest"]},
            **{"db": iceberg_lake.db, "table": table.name, "uuid": table.opened.uuid},
            "place": table.opened.location,
        }
        job = job_for(iceberg_lake.spark, iceberg_lake.config, {"quarantines": [order]})
        work.launched(job)
        (result,) = quarantine.run(iceberg_lake.spark, job)["results"]
        return str(result["reason"])

    assert "7 days are not over" in deleted()
    assert len(list(going.iterdir())) == 6
    at = time.time() - 8 * DAY
    os.utime(going / MANIFEST, (at, at))
    assert "1 files are named by" in deleted()
    left = sorted(one.name for one in going.iterdir())
    assert left == ["f0000000", "f0000001", "f0000009", MANIFEST]


def test_files_that_another_table_took_are_left(iceberg_lake: IcebergLake) -> None:
    lake = iceberg_lake
    table, other = small_files(lake.table(by=""), 2), lake.table(by="")
    planted(table, "data/x.parquet")
    first = table.files()[0]
    java = other.opened
    builder = java.jvm.org.apache.iceberg.DataFiles.builder(java.java.spec())
    file = builder.withPath(first["file_path"]).withFormat("parquet").withRecordCount(6)
    file = file.withFileSizeInBytes(first["file_size_in_bytes"])
    java.java.newAppend().appendFile(file.build()).commit()
    for kind in ("ORPHANS", "EXPIRE"):
        work = Removals(lake, table, kind=kind, now=datetime.now(UTC))
        assert work.draw_up()["outcome"] in ("TO_APPROVE", "NOTHING")
        named = {"db": lake.db, "table": other.name, "uuid": other.opened.uuid}
        found = work.draw_up(borrowers=[named])
        assert (found["outcome"], found["code"]) == ("FAILED", "removal.borrowed"), found
        assert f"{lake.db}.{other.name} uses files of it" in found["reason"]
        gone = {**named, "table": "never"}
        assert work.draw_up(borrowers=[gone])["outcome"] in ("TO_APPROVE", "NOTHING")
    for one, n_outside in ((table, 0), (other, 1)):
        (row,) = partition_rows(one.opened, Asked(1)).collect()
        assert row["n_outside"] == n_outside
