"""Segments become rows of the lake's own table: each once, folded, on time, and nobody else's."""

import json
import threading
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any

import pytest

from optimizer.queries.jobs.keep import MOST_ALIKE
from optimizer.queries.jobs.kept_table import known_table
from portal.lake.errors import RuleViolation
from portal.spark import launch
from tests.integration.optimizer.queries.kept_lake import NOW, KeptLake, named, query, segment
from tests.support.iceberg_lake import IcebergLake

DAY = timedelta(days=1)


@pytest.fixture
def kept(iceberg_lake: IcebergLake) -> KeptLake:
    return KeptLake.of(iceberg_lake)


def test_queries_become_rows_and_a_segment_that_comes_again_adds_none(kept: KeptLake) -> None:
    text = "SELECT a FROM shop.ev WHERE uid = 4711"
    first = named(segment([query(1, text), query(2, text.replace("4711", "5"))]))
    said = kept.keep(first)
    assert (said["segments"], said["n_written"], said["n_queries"]) == (list(first), 1, 2)
    row, other = sorted(kept.rows(), key=lambda one: one["query_id"])
    assert (row["engine"], row["user"], row["seconds"], row["n_queries"]) == (
        "trino",
        "olga",
        2.0,
        1,
    )
    assert row["ended_at"].astimezone(UTC) == NOW - timedelta(minutes=1)
    assert row["text"] == other["text"] == "SELECT a FROM shop.ev WHERE uid = ?"
    assert (row["shape"] == other["shape"], row["hashes"] == other["hashes"]) == (True, False)
    assert row["constants"] is None
    assert row["tables"][0].asDict(recursive=True) == {
        "db": "shop",
        "table": "ev",
        "filters": [{"column": "uid", "kind": "="}],
        "n_bytes": 100,
        "n_files": 9,
        "share": 0.5,
    }
    # With another one beside it, as after a run that ended between its commit and its result.
    again = {**first, **named(segment([query(3)], keeps_constants=True))}
    assert kept.keep(again)["n_written"] == 1
    assert kept.keep(again)["n_written"] == 0
    assert sorted(one["query_id"] for one in kept.rows()) == ["q1", "q2", "q3"]
    (constants,) = [one["constants"] for one in kept.rows() if one["query_id"] == "q3"]
    assert constants == ["1"]
    assert len({row["day"] for row in kept.rows("date(ended_at) day")}) == 1
    partitions = kept.lake.spark.sql(f"SELECT partition FROM {kept.sql}.partitions").collect()
    assert len(partitions) == 1


def test_the_same_query_in_two_segments_is_one(kept: KeptLake) -> None:
    segments = named(segment([query(1)]), segment([query(1), query(2)]), segment([query(2)]))
    for n_written in (3, 0):
        assert kept.keep(segments)["n_written"] == n_written
        assert sorted(one["query_id"] for one in kept.rows()) == ["q1", "q2"]


def test_torn_lines_are_counted_and_harm_no_other(kept: KeptLake) -> None:
    whole = segment([query(1), query(2)])
    torn = segment([query(3), query(4, "SELECT 'two' FROM t")])
    said = kept.keep(named(whole, torn[:-9], torn[: torn.index(b"q4")] + b'{"shape":"x","te', b""))
    assert said["n_torn"] == 2
    assert sorted(one["query_id"] for one in kept.rows()) == ["q1", "q2", "q3"]


def test_a_storm_is_folded_with_its_sums(kept: KeptLake) -> None:
    storm = segment([query(n, "SELECT a FROM shop.ev", seconds=0.5) for n in range(3_000)])
    kept.keep(named(storm, segment([query("x", "SELECT b FROM shop.ev")])))
    rows = [one for one in kept.rows() if one["text"] == "SELECT a FROM shop.ev"]
    assert len(rows) == MOST_ALIKE + 1
    assert sum(one["n_queries"] for one in rows) == 3_000
    assert sum(one["seconds"] for one in rows) == 1_500.0
    assert sum(one["n_bytes"] for one in rows) == 300_000
    (folded,) = [one for one in rows if one["n_queries"] > 1]
    assert folded["tables"][0]["share"] == 0.5
    assert folded["constants"] is None


@pytest.mark.parametrize(
    ("ended", "took", "right", "is_jump"),
    [
        (timedelta(0), timedelta(0), timedelta(0), False),
        (timedelta(minutes=3), timedelta(0), timedelta(minutes=3), False),
        (timedelta(days=400), timedelta(0), timedelta(0), True),
        (-8 * DAY, timedelta(0), timedelta(0), True),
        (-6 * DAY, timedelta(0), -6 * DAY, False),
        (None, timedelta(0), timedelta(0), False),
        (400 * DAY, 400 * DAY, timedelta(0), True),
    ],
)
def test_an_instant_that_cannot_be_is_replaced(
    kept: KeptLake, ended: timedelta | None, took: timedelta, right: timedelta, is_jump: bool
) -> None:
    at = None if ended is None else NOW + ended
    said = kept.keep(named(segment([query(1, ended_at=at)], now=NOW + took)))
    (row,) = kept.rows()
    assert row["ended_at"].astimezone(UTC) == NOW + right
    assert said["n_jumped"] == int(is_jump)


def test_whole_days_go_and_their_files_are_not_read(kept: KeptLake) -> None:
    for age in (40, 20, 0):
        now = NOW - age * DAY
        late = query(age, ended_at=now - timedelta(minutes=1))
        kept.keep(named(segment([late], now=now), now=now), now=now)
    assert len(kept.rows()) == 2, "what ended 40 days ago went with the last run"
    (last,) = kept.lake.spark.sql(
        f"SELECT operation, summary FROM {kept.sql}.snapshots ORDER BY committed_at DESC LIMIT 1"
    ).collect()
    assert last["operation"] == "delete"
    assert last["summary"]["deleted-data-files"] == "1"
    n_snapshots = kept.lake.spark.table(f"{kept.sql}.snapshots").count()
    assert kept.keep({})["has_removed"] is False
    assert kept.lake.spark.table(f"{kept.sql}.snapshots").count() == n_snapshots
    old = kept.keep(named(segment([query("old", ended_at=NOW - 40 * DAY)], now=NOW - 40 * DAY)))
    assert (old["n_old"], len(kept.rows())) == (1, 2)


def test_another_s_table_is_left_alone(iceberg_lake: IcebergLake) -> None:
    data = named(segment([query(1)]))
    plain = iceberg_lake.table()
    with pytest.raises(RuleViolation, match="it has no property") as refused:
        KeptLake(iceberg_lake, f"{iceberg_lake.db}.{plain.name}").keep(data)
    assert refused.value.code == "queries.not_ours"
    marked = iceberg_lake.table(lakewarden__recorded_queries="1")
    marked.say("ALTER TABLE {t} SET TBLPROPERTIES ('lakewarden.recorded-queries' = '1')")
    with pytest.raises(RuleViolation, match="it has other columns"):
        KeptLake(iceberg_lake, f"{iceberg_lake.db}.{marked.name}").keep(data)
    assert plain.opened.snapshot is None
    assert marked.opened.snapshot is None
    with pytest.raises(RuleViolation, match="does not exist") as missing:
        KeptLake(iceberg_lake, "not_there.queries").keep(data)
    assert missing.value.code == "queries.database"


def test_a_column_that_somebody_adds_stops_the_run(kept: KeptLake) -> None:
    kept.keep(named(segment([query(1)])))
    kept.lake.spark.sql(f"ALTER TABLE {kept.sql} ADD COLUMN more int")
    with pytest.raises(RuleViolation, match="other columns"):
        kept.keep(named(segment([query(2)])))


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_run_that_is_killed_around_its_commit_writes_once(
    kept: KeptLake, moment: str, tmp_path: Path
) -> None:
    segments = named(segment([query(n) for n in range(5)]))
    job = kept.job(segments)
    request: dict[str, Any] = {
        "run": job.run,
        "epoch": 1,
        "lake": job.config.as_dict(),
        "now": NOW.isoformat(),
        "params": job.params,
    }
    job.spool.write_request(request)
    launched = launch.submit(
        module="optimizer.queries.jobs.keep",
        tag=f"lw-{job.run}-1",
        spool=str(job.spool.root),
        config=job.config,
        log_file=tmp_path / "driver.log",
        environment={
            "LW_FAILPOINTS_ENABLED": "1",
            "LW_FAILPOINT": f"queries_append:{moment}:kill",
        },
    )
    (reaper,) = [one for one in threading.enumerate() if one.name == f"reap-{launched.pid}"]
    reaper.join(timeout=180)
    launch.kill(launched)
    assert job.spool.read_manifest() is None, (tmp_path / "driver.log").read_text("utf-8")[-3000:]
    known_table(kept.lake.spark, kept.name)
    assert len(kept.rows()) == (5 if moment == "after" else 0)
    said = kept.keep(segments)
    assert said["n_written"] == (0 if moment == "after" else 1)
    assert sorted(one["query_id"] for one in kept.rows()) == [f"q{n}" for n in range(5)]
    assert json.loads(json.dumps(said))["segments"] == list(segments)
