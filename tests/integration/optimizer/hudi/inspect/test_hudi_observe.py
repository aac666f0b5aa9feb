"""A look at real Hudi tables tells what Hudi's own writer and reader have made of them."""

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from optimizer.hudi.inspect.domain.facts import (
    Action,
    BlockKind,
    BlockState,
    HudiInspection,
    InstantState,
    TableType,
)
from optimizer.hudi.inspect.jobs import inspect_tables
from optimizer.hudi.tables.jobs.errors import BROKEN, GONE, NEW_VERSION, NOT_HUDI
from portal.lake.errors import PortalError
from stack.stack import LAKE, Stack
from tests.support.hudi_lake import HudiTable, written
from tests.support.scan_spark import job_for

pytestmark = pytest.mark.spark
N_COMMITS = 3


@pytest.fixture(scope="module")
def logged(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> HudiTable:
    """A partitioned merge-on-read table: one commit in base files, two in logs; not to change."""
    table = HudiTable(spark, tmp_path_factory.mktemp("hudi") / "logged")
    written(table, N_COMMITS)
    return table


def test_a_look_tells_commits_slices_and_what_stands_only_in_logs(logged: HudiTable) -> None:
    look = logged.look(read_keys=True)

    assert (look.table.table_type, look.table.partition_fields) == (
        TableType.MERGE_ON_READ,
        ("dt",),
    )
    assert (look.table.record_key, look.table.faults) == ("id", ())
    assert [one.action for one in look.instants] == [Action.DELTA_COMMIT] * N_COMMITS
    for one in look.instants:
        assert one.operation == "UPSERT"
        assert one.n_operations == 2
        assert one.completed_at is not None
        assert one.inflight_at is not None
        assert one.requested_at <= one.completed_at
    first, *later = [one.instant for one in look.instants]
    assert [one.instant for one in look.uncompacted] == later
    assert [one.group.partition for one in look.slices] == ["dt=2026-05-01", "dt=2026-05-02"]
    for part in look.slices:
        assert (part.base_instant, part.n_logs) == (first, len(later))
        assert [part.oldest_log_instant, part.newest_log_instant] == later
        assert not part.is_log_only
        assert not part.has_earlier_base
    on_disk = sum(path.stat().st_size for path in logged.logs())
    assert sum(part.log_bytes for part in look.slices) == on_disk
    assert sum(one.log_bytes for one in look.uncompacted) == on_disk
    assert (look.blocks, look.has_read_logs) == ((), True)
    assert (look.duplicates, look.has_read_keys) == ((), True)
    assert HudiInspection.from_dict(json.loads(json.dumps(look.as_dict()))) == look


def test_a_table_without_partitions_and_copy_on_write_is_looked_at_too(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = HudiTable(spark, tmp_path / "cow", is_logged=False, by="")
    table.upsert([(1, "2026-05-01", "a", 1)])

    look = table.look()

    assert (look.table.table_type, look.table.is_partitioned) == (TableType.COPY_ON_WRITE, False)
    assert [one.action for one in look.instants] == [Action.COMMIT]
    (part,) = look.slices
    assert (part.group.partition, part.n_logs, part.has_earlier_base) == ("", 0, False)
    assert look.uncompacted == ()


def test_damaged_and_forgotten_log_files_are_evidence(logged: HudiTable, tmp_path: Path) -> None:
    ill = logged.copied(tmp_path / "ill")
    *_, cut, forgotten = ill.logs()
    ill.damage(cut, cut.read_bytes()[:-20])
    commit = forgotten.name.split("_")[1].partition(".")[0]
    for path in ill.timeline.glob(f"*{commit}*"):
        path.unlink()

    look = ill.look()

    damaged, *lost = look.blocks
    assert (damaged.kind, damaged.log_file) == (BlockKind.CORRUPT, cut.name)
    assert (damaged.state, damaged.instant) == (BlockState.CORRUPT, None)
    assert damaged.n_bytes > 0
    assert "skips" in damaged.detail
    assert {(one.log_file, one.state, one.instant) for one in lost} == {
        (forgotten.name, BlockState.NOWHERE, commit)
    }


def test_a_timeline_that_cannot_be_read_is_told_and_stops_no_look(
    logged: HudiTable, tmp_path: Path
) -> None:
    broken = logged.copied(tmp_path / "broken")
    last = max(broken.timeline.glob("*.deltacommit"))
    broken.damage(last, b"no commit")

    look = broken.look()

    assert last.name.partition("_")[0] in look.table.faults[0]
    assert len(look.instants) == N_COMMITS


def test_pending_plans_and_what_is_inflight_are_told(logged: HudiTable, tmp_path: Path) -> None:
    table = logged.copied(tmp_path / "waiting")
    last = max(table.timeline.glob("*.deltacommit"))
    last.unlink()

    look = table.look()

    *_, stuck = look.instants
    assert (stuck.state, stuck.completed_at) == (InstantState.INFLIGHT, None)
    assert {one.state for one in look.blocks} == {BlockState.PENDING}
    assert stuck.instant not in {one.instant for one in look.uncompacted}


@pytest.mark.usefixtures("embedded_stack")
def test_what_is_written_after_a_plan_stands_only_in_logs_too(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = HudiTable(spark, tmp_path / "behind")
    plans = {
        "hoodie.compact.schedule.inline": "true",
        "hoodie.compact.inline.max.delta.commits": "1",
    }
    for k in range(5):
        table.upsert([(1, "2026-05-01", f"w{k}", k)], plans if k == 2 else {})

    found = table.look(read_logs=False)

    assert [len(plan.file_groups) for plan in found.plans] == [1]
    assert len(found.uncompacted) == 4
    (one,) = found.slices
    assert (one.n_logs, one.log_bytes) == (4, sum(path.stat().st_size for path in table.logs()))
    assert table.rows(only_base_files=True) == [(1, "2026-05-01", "w0", 0)]


def test_one_run_looks_at_many_tables_and_says_which_it_could_not(
    logged: HudiTable, embedded_stack: Stack, spark: SparkSession, tmp_path: Path
) -> None:
    places = {
        "gone": None,
        "empty": "",
        "torn": "no properties",
        "later": (
            "hoodie.table.name=a\nhoodie.table.type=MERGE_ON_READ\nhoodie.table.version=99\n"
            "hoodie.timeline.layout.version=2\n"
        ),
        "old": (
            "hoodie.table.name=a\nhoodie.table.type=MERGE_ON_READ\nhoodie.table.version=6\n"
            "hoodie.timeline.layout.version=1\n"
        ),
    }
    for name, text in places.items():
        if text is not None:
            (tmp_path / name).mkdir()
        if text:
            (tmp_path / name / ".hoodie").mkdir()
            (tmp_path / name / ".hoodie" / "hoodie.properties").write_text(text)
    fresh = logged.copied(tmp_path / "fresh")
    for path in fresh.timeline.iterdir():
        if path.is_file():
            path.unlink()
    asked = {**{name: tmp_path / name for name in (*places, "fresh")}, "logged": logged.place}
    rows = [
        {"table_id": n, "db": "d", "table": name, "location": f"file:{place}"}
        for n, (name, place) in enumerate(asked.items())
    ]
    job = job_for(spark, embedded_stack.config(LAKE), {"tables": rows})

    result = inspect_tables.run(spark, job)

    failed = {list(asked)[one["table_id"]]: one["code"] for one in result["failed"]}
    assert failed == {"gone": GONE, "empty": NOT_HUDI, "torn": BROKEN, "later": NEW_VERSION}
    read = job.spool.fs.read
    looks = {
        name: HudiInspection.from_dict(
            json.loads(read(job.spool.results.child("looks", f"{n}.json")))
        )
        for n, name in enumerate(asked)
        if name not in failed
    }
    assert (looks["old"].table.version, looks["old"].instants) == (6, ())
    assert looks["fresh"].instants == ()
    assert len(looks["logged"].slices) == 2


def test_services_refuse_a_table_of_hudi_0(spark: SparkSession, tmp_path: Path) -> None:
    place = tmp_path / "old" / ".hoodie"
    place.mkdir(parents=True)
    (place / "hoodie.properties").write_text(
        "hoodie.table.name=a\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version=6\n"
        "hoodie.timeline.layout.version=1\n"
    )
    with pytest.raises(PortalError, match=r"Hudi 0\.x") as error:
        HudiTable(spark, tmp_path / "old").opened.check_supported()
    assert error.value.code == "hudi.old_version"
