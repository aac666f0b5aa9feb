"""Rows in logs that nobody reads come back by an approved list, and what was undone never does."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from optimizer.hudi.inspect.jobs.undone import undone_instants
from optimizer.hudi.maintenance.jobs.orders import Order
from optimizer.hudi.maintenance.jobs.writing import writing_client
from stack.stack import LAKE, Stack
from tests.support.hudi_lake import HudiTable, Row
from tests.support.hudi_services import LOCK, SHARED, Services, order

pytestmark = pytest.mark.spark
_DAYS = ("2026-05-01", "2026-05-02")
_ARCHIVING = {
    **SHARED,
    "hoodie.archive.automatic": "true",
    "hoodie.keep.min.commits": "2",
    "hoodie.keep.max.commits": "3",
    "hoodie.clean.automatic": "true",
    "hoodie.clean.commits.retained": "1",
}


@pytest.fixture(scope="module")
def services(spark: SparkSession, embedded_stack: Stack) -> Services:
    return Services(spark, embedded_stack.config(LAKE))


@pytest.fixture(scope="module")
def logged(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> HudiTable:
    """Two days whose six keys were written three times."""
    table = HudiTable(spark, tmp_path_factory.mktemp("hudi") / "logged")
    for k in (1, 2, 3):
        table.upsert(rows_of(k), SHARED)
    return table


def rows_of(k: int) -> list[Row]:
    return [(i, _DAYS[i % 2], f"w{k}.{i}", k) for i in range(6)]


def newest_commit(table: HudiTable) -> str:
    return table.logs()[-1].name.split("_")[1].partition(".")[0]


def content(table: HudiTable) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in (*table.files(), *table.timeline.glob("*.*"))}


def test_rows_that_nobody_reads_are_listed_and_come_back_but_over_nothing_newer(
    logged: HudiTable, services: Services, tmp_path: Path
) -> None:
    table = logged.copied(tmp_path / "lost")
    for path in table.timeline.glob(f"*{newest_commit(table)}*"):
        path.unlink()
    newer, equal = (0, _DAYS[0], "newer", 9), (1, _DAYS[1], "equal", 3)
    table.upsert([newer, equal], SHARED)
    seen, before = table.rows(), content(table)
    assert seen == sorted([newer, equal, *rows_of(2)[2:]])

    unlocked, listed = services.run(
        order(table, "RECOVERY", "SCHEDULE"), order(table, "RECOVERY", "SCHEDULE", lock=LOCK)
    )

    assert (unlocked["outcome"], unlocked["code"]) == ("FAILED", "hudi.no_lock")
    found = listed["found"]
    assert (found["n_rows"], found["n_read"], found["n_logs"]) == (4, 6, 2)
    assert {word: n for word, n in found["today"].items() if n} == {
        "older": 4, "newer": 1, "equal": 1,
    }  # fmt: skip
    assert [row["rows"] for row in found["blocks"]] == [3, 3]
    assert len(found["keys"]) == 4
    assert content(table) == before

    execute = order(table, "RECOVERY", lock=LOCK, digest=found["digest"])
    nothing, changed = services.run({**execute, "digest": ""}, {**execute, "digest": "other"})
    assert (nothing["outcome"], nothing["code"]) == ("FAILED", "hudi.order")
    assert (changed["outcome"], changed["code"]) == ("ABANDONED", "hudi.not_as_listed")
    assert content(table) == before

    (done,) = services.run(execute)

    assert (done["outcome"], done["done"][0]["n_items"]) == ("DONE", 4), done
    assert table.rows() == sorted([newer, equal, *rows_of(3)[2:]])
    assert before.items() <= content(table).items()
    again = services.one(table, "RECOVERY", "SCHEDULE", lock=LOCK)
    assert (again["outcome"], again["found"]) == ("NOTHING", {})


def test_what_a_rollback_undid_is_never_offered_though_its_rollback_is_archived(
    logged: HudiTable, services: Services, tmp_path: Path
) -> None:
    table = logged.copied(tmp_path / "undone")
    undone = newest_commit(table)
    late = {path: path.read_bytes() for path in table.logs() if undone in path.name}
    request = Order.read(order(table, "COMPACTION", "SCHEDULE", lock=LOCK))
    with writing_client(table.opened, request) as client:
        assert client.rollback(undone)
    # A writer's task that went on after the rollback writes its logs again.
    for path, data in late.items():
        table.damage(path, data)
    assert [one.instant for one in table.look().blocks] == [undone, undone]
    listed = services.one(table, "RECOVERY", "SCHEDULE", lock=LOCK)
    assert (listed["outcome"], listed["found"]) == ("NOTHING", {})

    for k in range(4, 12):
        table.upsert(rows_of(k)[:1], _ARCHIVING)
    assert not list(table.timeline.glob("*.rollback"))
    assert undone in undone_instants(table.opened)
