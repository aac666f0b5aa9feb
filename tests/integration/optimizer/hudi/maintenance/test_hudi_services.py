"""Hudi's services apart from the writer, on tables that Spark's own writer made.

What is executed, scheduled or refused is told by what Hudi's timeline and readers say afterwards.
"""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from optimizer.hudi.inspect.domain.facts import Action, BlockState, InstantState
from optimizer.hudi.maintenance.jobs.orders import Order
from optimizer.hudi.maintenance.jobs.writing import settings_for
from stack.stack import LAKE, Stack
from tests.support.hudi_lake import HudiTable, Row
from tests.support.hudi_services import APART, LOCK, SHARED, Services, order

pytestmark = pytest.mark.spark
_PLANS = {"hoodie.compact.schedule.inline": "true", "hoodie.compact.inline.max.delta.commits": "1"}
_MAY_NOT, _PASSES = "FAILED", "ABANDONED"


@pytest.fixture(scope="module")
def services(spark: SparkSession, embedded_stack: Stack) -> Services:
    return Services(spark, embedded_stack.config(LAKE))


@pytest.fixture(scope="module")
def planned(services: Services, tmp_path_factory: pytest.TempPathFactory) -> HudiTable:
    """A merge-on-read table with a plan for each of two days: one of its writer, one of ours.

    Hudi's writer schedules none while one is pending.
    """
    table = HudiTable(services.spark, tmp_path_factory.mktemp("hudi") / "planned")
    rows: list[Row] = [(i, f"2026-05-0{1 + i % 2}", f"a{i}", 1) for i in range(6)]
    table.upsert(rows)
    for day in (1, 2):
        changed = [(i, dt, f"{word} again", 2) for i, dt, word, _ in rows if dt.endswith(str(day))]
        table.upsert(changed, _PLANS)
    assert services.one(table, "COMPACTION", "SCHEDULE", lock=LOCK)["outcome"] == "DONE"
    return table


def plans(table: HudiTable) -> list[str]:
    return [one.instant for one in table.look(read_logs=False).plans]


def test_all_pending_plans_are_executed_oldest_first(
    planned: HudiTable, services: Services, tmp_path: Path
) -> None:
    table, wanted = planned.copied(tmp_path / "all"), planned.rows()

    result = services.one(table, "COMPACTION")

    assert (result["outcome"], result["code"]) == ("DONE", "")
    assert [one["instant"] for one in result["done"]] == plans(planned)
    assert {(one["action"], one["was"], one["rows"]) for one in result["done"]} == {
        ("compaction", "requested", 3)
    }
    assert (result["before"]["n_logs"], result["after"]["n_logs"]) == (2, 0)
    assert (
        table.rows(only_base_files=True)
        == table.rows()
        == wanted
        != planned.rows(only_base_files=True)
    )
    assert services.one(table, "COMPACTION")["outcome"] == "NOTHING"


def test_what_readers_skip_a_compaction_leaves_out(
    planned: HudiTable, services: Services, tmp_path: Path
) -> None:
    table = planned.copied(tmp_path / "skipped")
    forgotten = table.logs()[-1]
    commit = forgotten.name.split("_")[1].partition(".")[0]
    for path in table.timeline.glob(f"*{commit}*"):
        path.unlink()
    seen = table.rows()
    assert seen != planned.rows()
    (skipped,) = table.look().blocks
    assert (skipped.state, skipped.instant) == (BlockState.NOWHERE, commit)

    assert services.one(table, "COMPACTION")["outcome"] == "DONE"

    assert table.rows() == table.rows(only_base_files=True) == seen


def test_some_are_executed_and_never_the_newest_alone(
    planned: HudiTable, services: Services, tmp_path: Path
) -> None:
    table = planned.copied(tmp_path / "some")
    oldest, newest = plans(table)

    alone = services.one(table, "COMPACTION", instants=[newest])
    first, again = services.run(
        order(table, "COMPACTION", most=1), order(table, "COMPACTION", instants=[oldest])
    )

    assert (alone["outcome"], alone["code"]) == (_MAY_NOT, "hudi.newest-alone")
    assert [one["instant"] for one in first["done"]] == [oldest]
    assert (again["outcome"], again["done"]) == ("NOTHING", [])
    assert f"{oldest} is not pending any more." in again["reason"]
    assert plans(table) == [newest]
    assert table.rows() == planned.rows()


def test_a_plan_is_executed_by_whoever_begins_it_first(
    planned: HudiTable, services: Services, tmp_path: Path
) -> None:
    table = planned.copied(tmp_path / "twice")
    oldest = plans(table)[0]
    orders = [order(table, "COMPACTION", instants=[oldest], patience_seconds=3600)] * 2

    with ThreadPoolExecutor() as pool:
        found = [one[0] for one in pool.map(services.run, orders)]

    assert sum(len(one["done"]) for one in found) == 1
    (other,) = [one for one in found if not one["done"]]
    assert (other["outcome"], other["code"]) in {(_PASSES, "hudi.at_work"), ("NOTHING", "")}
    assert table.rows() == planned.rows()
    assert not [one for one in table.look().instants if one.action is Action.ROLLBACK]


def test_scheduling_needs_a_lock_that_the_writer_shares(
    planned: HudiTable, services: Services, tmp_path: Path
) -> None:
    table = planned.copied(tmp_path / "locked")
    services.one(table, "COMPACTION")
    table.upsert([(1, "2026-05-02", "later", 3)], SHARED)

    refused, found, twice, done = services.run(
        order(table, "COMPACTION", "SCHEDULE"),
        order(table, "COMPACTION", "SCHEDULE", lock=LOCK),
        order(table, "COMPACTION", "SCHEDULE", lock=LOCK),
        order(table, "COMPACTION", lock=LOCK),
    )

    assert (refused["outcome"], refused["code"]) == (_MAY_NOT, "hudi.no_lock")
    assert (found["outcome"], found["done"][0]["action"]) == ("DONE", "compaction")
    assert (twice["outcome"], twice["done"]) == ("NOTHING", [])
    assert [one["instant"] for one in done["done"]] == [found["done"][0]["instant"]]
    assert (1, "2026-05-02", "later", 3) in table.rows(only_base_files=True)


def test_nothing_is_scheduled_while_a_writer_holds_the_lock(
    planned: HudiTable, services: Services, tmp_path: Path
) -> None:
    table = planned.copied(tmp_path / "held")
    before = sorted(path.name for path in table.timeline.iterdir())
    with table.locked(LOCK):
        held = services.one(table, "CLUSTERING", "SCHEDULE", lock=LOCK)

    assert (held["outcome"], held["code"]) == (_PASSES, "hudi.locked")
    assert sorted(path.name for path in table.timeline.iterdir()) == before


def test_what_a_lock_needs_stands_in_the_spark_conf_of_the_lake(planned: HudiTable) -> None:
    conf: Any = planned.spark.sparkContext._conf
    conf.set("spark.hoodie.write.lock.zookeeper.url", "keeper")
    try:
        settings = settings_for(
            planned.opened, Order.read(order(planned, "CLEAN", "SCHEDULE", lock=LOCK))
        )
    finally:
        conf._jconf.remove("spark.hoodie.write.lock.zookeeper.url")

    assert settings["hoodie.write.lock.zookeeper.url"] == "keeper"
    assert settings["hoodie.write.lock.provider"] == LOCK["hoodie.write.lock.provider"]


def test_a_copy_on_write_table_without_partitions_is_clustered(
    spark: SparkSession, services: Services, tmp_path: Path
) -> None:
    table = HudiTable(spark, tmp_path / "cow", is_logged=False, by="")
    for k in range(2):
        rows = [(2 * k + i, "2026-05-01", f"w{i}", k) for i in range(2)]
        table.upsert(rows, {"hoodie.parquet.small.file.limit": "0"})
    wanted = table.rows()
    assert len(table.look().slices) == 2

    none, found, done = services.run(
        order(table, "COMPACTION"),
        order(table, "CLUSTERING", "SCHEDULE", lock=LOCK),
        order(table, "CLUSTERING"),
    )

    assert (none["outcome"], none["code"]) == (_MAY_NOT, "hudi.no_logs")
    assert (found["outcome"], done["outcome"]) == ("DONE", "DONE")
    assert (done["before"]["n_file_groups"], done["after"]["n_file_groups"]) == (2, 1)
    assert table.rows() == wanted


def test_the_metadata_table_knows_one_writer_at_a_time(
    spark: SparkSession, services: Services, tmp_path: Path
) -> None:
    table = HudiTable(spark, tmp_path / "metadata")
    with_metadata = {"hoodie.metadata.enable": "true"}
    table.upsert([(1, "2026-05-01", "a", 1)], with_metadata)
    table.upsert([(1, "2026-05-01", "b", 2)], {**with_metadata, **_PLANS})
    held = table.opened.metadata_partitions
    in_the_way = table.place / "dt=2026-05-02"
    in_the_way.write_text("no folder")
    with pytest.raises(Exception, match="dt="):
        table.upsert([(2, "2026-05-02", "c", 3)], with_metadata)

    alone, beside = services.run(
        order(table, "COMPACTION"), order(table, "COMPACTION", writer_serialized=True)
    )
    in_the_way.unlink()
    table.upsert([(2, "2026-05-02", "c", 3)], with_metadata)  # it rolls back what it left
    done = services.one(table, "COMPACTION", writer_serialized=True)

    assert (alone["outcome"], alone["code"]) == (_MAY_NOT, "hudi.metadata_table")
    assert (beside["outcome"], beside["code"]) == (_PASSES, "hudi.writer_at_work")
    assert done["outcome"] == "DONE"
    assert table.opened.metadata_partitions == held
    assert table.rows(only_base_files=True) == [
        (1, "2026-05-01", "b", 2),
        (2, "2026-05-02", "c", 3),
    ]


def test_tables_that_nothing_may_be_done_to_stop_no_other(
    planned: HudiTable, services: Services, tmp_path: Path
) -> None:
    good, broken = planned.copied(tmp_path / "good"), planned.copied(tmp_path / "broken")
    inline = planned.copied(tmp_path / "inline")
    broken.damage(max(broken.timeline.glob("*.deltacommit")), b"no commit")
    old = HudiTable(planned.spark, tmp_path / "old")
    (old.place / ".hoodie").mkdir(parents=True)
    (old.place / ".hoodie" / "hoodie.properties").write_text(
        "hoodie.table.name=a\nhoodie.table.type=MERGE_ON_READ\nhoodie.table.version=6\n"
        "hoodie.timeline.layout.version=1\n"
    )
    gone = HudiTable(planned.spark, tmp_path / "gone")

    found = services.run(
        {**order(good, "COMPACTION"), "service": "DUST", "task": 0},
        order(broken, "COMPACTION", task=1),
        order(old, "COMPACTION", task=2),
        order(gone, "COMPACTION", task=3),
        order(inline, "COMPACTION", task=4, properties={}),
        order(inline, "COMPACTION", task=5, properties={**APART, "hoodie.compact.inline": "true"}),
        order(good, "COMPACTION", task=6),
        order(good, "COMPACTION", task=7),
        leave_out=[7],
    )

    assert [(one["task"], one["outcome"], one["code"]) for one in found] == [
        (0, _MAY_NOT, "hudi.order"),
        (1, _MAY_NOT, "hudi.broken"),
        (2, _MAY_NOT, "hudi.old_version"),
        (3, _PASSES, "hudi.gone"),
        (4, _MAY_NOT, "hudi.writer_may"),
        (5, _MAY_NOT, "hudi.writer_does"),
        (6, "DONE", ""),
    ]
    assert {one.state for one in broken.look().instants if one.is_pending} == {
        InstantState.REQUESTED
    }
    assert services.run(order(inline, "COMPACTION"), cancel=True) == []
    assert len(plans(inline)) == 2
