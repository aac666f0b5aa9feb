"""What Hudi's services take away: listed first, then exactly that, and only from the dead."""

import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from optimizer.hudi.inspect.domain.facts import Action, Instant, InstantState
from optimizer.hudi.maintenance.jobs import cleaning
from optimizer.hudi.maintenance.jobs.clean_plans import digest_of
from optimizer.hudi.maintenance.jobs.orders import Order, Result
from optimizer.hudi.maintenance.jobs.present import present_of
from optimizer.hudi.maintenance.jobs.scheduling import schedule
from stack.stack import LAKE, Stack
from tests.support.hudi_lake import HudiTable, Row
from tests.support.hudi_services import APART, LOCK, QUICK, SHARED, Services, order

pytestmark = pytest.mark.spark
_DAYS = ("2026-05-01", "2026-05-02")
_LEAST = {"hoodie.clean.commits.retained": "1"}


@pytest.fixture(scope="module")
def services(spark: SparkSession, embedded_stack: Stack) -> Services:
    return Services(spark, embedded_stack.config(LAKE))


@pytest.fixture(scope="module")
def logged(services: Services, tmp_path_factory: pytest.TempPathFactory) -> HudiTable:
    """Two days, each with a base file and a log, and a plan to compact both."""
    table = HudiTable(services.spark, tmp_path_factory.mktemp("hudi") / "logged")
    for k in (1, 2):
        table.upsert(rows_of(k), SHARED)
    assert services.one(table, "COMPACTION", "SCHEDULE", lock=LOCK)["outcome"] == "DONE"
    return table


def rows_of(k: int) -> list[Row]:
    return [(i, _DAYS[i % 2], f"w{k}.{i}", k) for i in range(4)]


def pending(table: HudiTable) -> list[Instant]:
    return [one for one in table.look(read_logs=False).instants if one.is_pending]


@pytest.fixture(scope="module")
def due(
    logged: HudiTable, services: Services, tmp_path_factory: pytest.TempPathFactory
) -> HudiTable:
    """A table that a clean is due for."""
    table = logged.copied(tmp_path_factory.mktemp("hudi") / "due")
    services.one(table, "COMPACTION")
    table.upsert(rows_of(3)[:1])
    return table


def timeline(table: HudiTable) -> list[str]:
    return sorted(path.name for path in table.timeline.iterdir())


def names(table: HudiTable) -> set[str]:
    return {str(path.relative_to(table.place)) for path in table.files()}


def test_a_clean_is_planned_after_its_list_was_approved_and_deletes_exactly_that(
    due: HudiTable, services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = due.copied(tmp_path / "cleaned")
    before, files = timeline(table), names(table)
    by_writer, with_lock, found = services.run(
        order(table, "CLEAN", "SCHEDULE", properties={}),
        order(table, "CLEAN", "SCHEDULE", properties={}, lock=LOCK),
        order(table, "CLEAN", "SCHEDULE", settings=_LEAST),
    )
    listed = found["found"]
    for refused in (by_writer, with_lock):
        assert (refused["outcome"], refused["code"]) == ("FAILED", "hudi.writer_does")
    assert (listed["n_files"], listed["n_partitions"]) == (4, 2)
    assert set(listed["files"]) < files
    # Whatever people say of the list now, there is nothing to take back.
    assert timeline(table) == before

    table.upsert(rows_of(4)[:1])
    before, files = timeline(table), names(table)
    settings = {**_LEAST, "earliest": listed["earliest"]}
    execute = order(table, "CLEAN", settings=settings, digest=listed["digest"])
    nothing, changed, more_kept = services.run(
        {**execute, "digest": ""},
        {**execute, "digest": "of another list"},
        {**execute, "settings": {**settings, "hoodie.clean.commits.retained": "9"}},
    )
    with monkeypatch.context() as patched:
        patched.setattr(cleaning, "planned_paths", lambda *_: ["p/other"])
        (other_plan,) = services.run(execute)
    assert (nothing["outcome"], nothing["code"]) == ("FAILED", "hudi.order")
    for one in (changed, more_kept, other_plan):
        assert (one["outcome"], one["code"]) == ("ABANDONED", "hudi.not_as_listed")
    assert (timeline(table), names(table)) == (before, files)

    (done,) = services.run(execute)

    assert (done["outcome"], done["done"][0]["n_files"]) == ("DONE", 4)
    assert files - names(table) == set(listed["files"])
    assert done["done"][0]["bytes"] == done["before"]["n_bytes"] - done["after"]["n_bytes"]
    assert pending(table) == []
    assert table.rows() == sorted([rows_of(4)[0], *rows_of(2)[1:]])


def test_a_partition_whose_directory_goes_stands_on_the_approved_list(
    due: HudiTable, services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = due.copied(tmp_path / "whole")
    first = f"dt={_DAYS[0]}"
    listed_at = {"listed_at": datetime.now(UTC).isoformat()}
    services.one(table, "TTL", lock=LOCK, partitions=[first], settings=listed_at)
    for k in (4, 5):
        table.upsert([rows_of(k)[1]])
    assert (table.place / first).is_dir()

    found = services.one(table, "CLEAN", "SCHEDULE", settings=_LEAST)["found"]

    whole, *files = found["files"]
    assert (whole, found["n_whole"], found["n_files"]) == (f"{first}/", 1, len(files))
    assert found["digest"] != digest_of(files)
    settings = {**_LEAST, "earliest": found["earliest"]}
    execute = order(table, "CLEAN", settings=settings, digest=found["digest"])
    with monkeypatch.context() as patched:
        patched.setattr(cleaning, "planned_paths", lambda *_: files)
        (other_plan,) = services.run(execute)
    assert (other_plan["outcome"], other_plan["code"]) == ("ABANDONED", "hudi.not_as_listed")
    assert (table.place / first).is_dir()
    (done,) = services.run(execute)
    assert done["outcome"] == "DONE", done
    assert not (table.place / first).exists()


def test_a_pending_clean_of_others_is_listed_and_executed_alone(
    due: HudiTable, services: Services, tmp_path: Path
) -> None:
    table = due.copied(tmp_path / "theirs")
    (listed,) = services.run(order(table, "CLEAN", "SCHEDULE", settings=_LEAST))
    theirs = Order.read(order(table, "CLEAN", "SCHEDULE", settings=_LEAST))
    opened = replace(table.opened, metastore=APART)
    schedule(present_of(opened), theirs, Result(1), lambda: None)
    (instant,) = (one.instant for one in pending(table))
    found = services.one(table, "CLEAN", "SCHEDULE", settings=_LEAST)["found"]
    assert (found["instant"], found["files"]) == (instant, listed["found"]["files"])

    execute = order(table, "CLEAN", instants=[instant], digest=found["digest"])
    anew, changed = services.run(
        {**execute, "instants": None}, {**execute, "digest": "of another list"}
    )
    second = table.timeline / f"{int(instant) + 1}.clean.requested"
    second.write_bytes((table.timeline / f"{instant}.clean.requested").read_bytes())
    (other,) = services.run(execute)
    second.unlink()
    (done,) = services.run(execute)

    for one in (anew, other):
        assert (one["outcome"], one["code"]) == ("FAILED", "hudi.other_clean")
    assert (changed["outcome"], changed["code"]) == ("ABANDONED", "hudi.not_as_listed")
    assert (done["outcome"], done["done"][0]["n_files"]) == ("DONE", 4)
    assert table.rows() == sorted([rows_of(3)[0], *rows_of(2)[1:]])


def test_what_a_dead_writer_left_is_rolled_back_under_the_lock(
    logged: HudiTable, services: Services, tmp_path: Path
) -> None:
    table, wanted = logged.copied(tmp_path / "dead"), logged.rows()
    n_files = len(table.files())
    in_the_way = table.place / "dt=2026-05-03"
    in_the_way.write_text("A file where the writer wants a folder.")
    with pytest.raises(Exception, match="dt=2026-05-03"):
        table.upsert([*rows_of(4), (9, "2026-05-03", "new", 4)], {**SHARED, **QUICK})
    in_the_way.unlink()
    time.sleep(1)
    (stuck,) = [one for one in pending(table) if one.action is Action.DELTA_COMMIT]
    assert (stuck.state, stuck.heartbeat_at is None) == (InstantState.INFLIGHT, False)
    slow, quick = APART, {**APART, **QUICK}

    early, listed, unlocked, done = services.run(
        order(table, "ROLLBACK", instants=[stuck.instant], lock=LOCK, properties=slow),
        order(table, "ROLLBACK", "SCHEDULE", properties=quick),
        order(table, "ROLLBACK", instants=[stuck.instant], properties=quick),
        order(table, "ROLLBACK", instants=[stuck.instant], lock=LOCK, properties=quick),
    )

    assert (early["outcome"], early["code"]) == ("ABANDONED", "hudi.at_work")
    (found,) = listed["found"]["instants"]
    assert (found["instant"], found["action"]) == (stuck.instant, "deltacommit")
    assert (unlocked["outcome"], unlocked["code"]) == ("FAILED", "hudi.no_lock")
    assert (done["outcome"], done["done"][0]["instant"]) == ("DONE", stuck.instant)
    assert done["done"][0]["n_files"] == found["n_files"]
    assert [one.action for one in pending(table)] == [Action.COMPACTION]
    assert table.rows() == wanted
    assert len(table.files()) >= n_files

    # A rollback that was itself broken off is ended the same way.
    (ended,) = table.timeline.glob("*_*.rollback")
    ended.unlink()
    (broken,) = [one for one in pending(table) if one.action is Action.ROLLBACK]
    again = services.one(table, "ROLLBACK", instants=[broken.instant], lock=LOCK, properties=quick)
    assert again["outcome"] == "DONE"
    assert [one.action for one in pending(table)] == [Action.COMPACTION]
    table.upsert(rows_of(5), SHARED)
    assert table.rows() == rows_of(5)


def test_a_compaction_that_failed_goes_back_to_its_plan_or_is_begun_anew(
    logged: HudiTable, services: Services, tmp_path: Path
) -> None:
    table, wanted = logged.copied(tmp_path / "failed"), logged.rows()
    base = next(path for path in table.files() if path.suffix == ".parquet")
    base.rename(tmp_path / "away")
    failed = services.one(table, "COMPACTION")
    (tmp_path / "away").rename(base)
    (begun,) = pending(table)
    other = table.copied(tmp_path / "other")
    waited: dict[str, Any] = {"patience_seconds": 3600}

    assert (failed["outcome"], failed["done"]) == ("FAILED", [])
    assert begun.state is InstantState.INFLIGHT
    left, back, done, anew = services.run(
        order(table, "COMPACTION", **waited),
        order(table, "ROLLBACK", instants=[begun.instant]),
        order(table, "COMPACTION", **waited),
        order(other, "COMPACTION"),
    )

    assert (left["outcome"], left["code"]) == ("ABANDONED", "hudi.at_work")
    assert (back["outcome"], back["done"][0]["was"]) == ("DONE", "inflight")
    assert (done["done"][0]["was"], anew["done"][0]["was"]) == ("requested", "inflight")
    for one in (table, other):
        assert pending(one) == []
        assert one.rows(only_base_files=True) == wanted
    assert table.rows() == other.rows() == wanted


def test_old_partitions_are_listed_and_dropped_unless_written_to_since(
    logged: HudiTable, services: Services, tmp_path: Path
) -> None:
    table = logged.copied(tmp_path / "old")
    first, second = (f"dt={day}" for day in _DAYS)
    wrong, young, old = services.run(
        order(table, "TTL", "SCHEDULE", settings={"ttl_days": "x"}),
        order(table, "TTL", "SCHEDULE", settings={"ttl_days": 1}),
        order(table, "TTL", "SCHEDULE", settings={"ttl_days": 1 / 24 / 3600 / 100}),
    )
    assert (wrong["outcome"], wrong["code"]) == ("FAILED", "hudi.order")
    assert young["found"]["partitions"] == []
    assert [one["partition"] for one in old["found"]["partitions"]] == [first, second]
    assert sum(one["bytes"] for one in old["found"]["partitions"]) == old["before"]["n_bytes"]
    listed: dict[str, Any] = {"settings": {"listed_at": datetime.now(UTC).isoformat()}}
    asked: dict[str, Any] = {**listed, "partitions": [first, second, "dt=never"]}

    unlocked, planned = services.run(
        order(table, "TTL", **asked), order(table, "TTL", lock=LOCK, **asked)
    )
    services.one(table, "COMPACTION")
    listed = {"settings": {"listed_at": datetime.now(UTC).isoformat()}}
    table.upsert([rows_of(3)[1]], SHARED)
    done = services.one(table, "TTL", lock=LOCK, **{**asked, **listed})

    assert (unlocked["outcome"], unlocked["code"]) == ("FAILED", "hudi.no_lock")
    assert (planned["outcome"], planned["code"]) == ("ABANDONED", "hudi.not_as_listed")
    assert (done["outcome"], done["code"]) == ("PARTIAL", "hudi.not_as_listed")
    assert done["done"][0]["partitions"] == [first]
    assert "dt=never is not there any more" in done["reason"]
    assert table.rows() == [rows_of(3)[1], rows_of(2)[3]]
