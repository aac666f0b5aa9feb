"""Merged with the rows of newer commits, earlier states give what reading everything gives."""

from pathlib import Path

import pytest

from quality.checks.domain.messages import Task, Window
from quality.checks.domain.metrics import Metric, MetricKind
from tests.support.checked_tables import Done, changed, measured
from tests.support.hudi_lake import HudiTable
from tests.support.iceberg_lake import IcebergLake, WrittenTable

pytestmark = pytest.mark.spark
K = MetricKind
DAYS = ("2026-05-01", "2026-05-02")
METRICS = (
    Metric(K.ROW_COUNT),
    Metric(K.NULL_RATE, ("word",)),
    Metric(K.SUM, ("id",)),
    Metric(K.MEAN, ("id",), where="word is not null"),
    Metric(K.STDDEV, ("id",)),
    Metric(K.MIN, ("id",)),
    Metric(K.MAX, ("id",)),
    Metric(K.REGEX_RATE, ("word",), pattern="^a"),
    Metric(K.RANGE_RATE, ("id",), low=0, high=50),
    Metric(K.IN_SET_RATE, ("word",), values=("a", "b")),
    Metric(K.MIN_LENGTH, ("word",)),
    Metric(K.MAX_LENGTH, ("word",)),
)
DISTINCT = Metric(K.DISTINCT_COUNT, ("id",))


def task_of(table: WrittenTable, *metrics: Metric, days: tuple[str, ...] = DAYS) -> Task:
    return Task(
        id=1, db=table.lake.db, table=table.name, format="iceberg",
        metrics=metrics or METRICS, partition_key="dt", windows=tuple(map(Window, days)),
    )  # fmt: skip


def append(table: WrittenTable, n: int, *, day: str = DAYS[0]) -> None:
    words = [None, "a", "bb", "ab", "b"]
    table.append([(n * 10 + k, day, words[(n + k) % 5]) for k in range(4)])


@pytest.fixture
def lake(iceberg_lake: IcebergLake) -> IcebergLake:
    return iceberg_lake


def later(table: WrittenTable, task: Task, first: Done) -> tuple[Done, Done]:
    """Return what is measured from earlier states, and by reading everything."""
    spark, config = table.lake.spark, table.lake.config
    merged = measured(spark, config, changed(task, earlier=first.earlier()))
    return merged, measured(spark, config, task)


def assert_equal(merged: Done, whole: Done) -> None:
    assert merged.measured.commit == whole.measured.commit
    for of_merged, of_whole in zip(merged.measured.windows, whole.measured.windows, strict=True):
        assert (of_merged.window, of_merged.n_rows) == (of_whole.window, of_whole.n_rows)
        for one, other in zip(of_merged.values, of_whole.values, strict=True):
            assert (one.key, one.reason) == (other.key, other.reason)
            assert one.value == near(other.value), one.key


def near(value: float | None) -> object:
    return None if value is None else pytest.approx(value, rel=1e-12)


def test_appended_rows_are_merged(lake: IcebergLake) -> None:
    table = lake.table()
    append(table, 1)
    append(table, 2, day=DAYS[1])
    task = task_of(table, *METRICS, DISTINCT)
    first = measured(lake.spark, lake.config, task)
    append(table, 3)
    append(table, 30)
    merged, whole = later(table, task, first)
    assert (merged.measured.is_incremental, merged.measured.note) == (True, "")
    assert_equal(merged, whole)
    plain = task_of(table, *METRICS)
    merged, whole = later(table, plain, first)
    assert (merged.measured.rows_read, whole.measured.rows_read) == (8, 16)

    # Compaction changes no row, and a commit that is the newest already adds none.
    lake.optimize(lake.task(table, kind="FULL", min_files=1))
    assert [one.operation for one in table.snapshots()][-1] == "replace"
    again, whole = later(table, plain, whole)
    assert (again.measured.is_incremental, again.measured.rows_read) == (True, 0)
    assert_equal(again, whole)


def test_other_changes_in_between_read_everything_and_say_so(lake: IcebergLake) -> None:
    table = lake.table()
    append(table, 1)
    task = task_of(table, *METRICS[:4], days=DAYS[:1])
    whole = measured(lake.spark, lake.config, task)
    for n, statement in enumerate(
        (
            "DELETE FROM {t} WHERE id = 11",
            "UPDATE {t} SET word = 'zz' WHERE id = 12",
            "INSERT OVERWRITE {t} VALUES (1, '2026-05-01', 'x')",
        )
    ):
        table.say(statement)
        append(table, 2 + n)
        merged, whole = later(table, task, whole)
        assert not merged.measured.is_incremental
        assert "changed or removed rows" in merged.measured.note
        assert_equal(merged, whole)


def test_a_rolled_back_commit_reads_everything(lake: IcebergLake) -> None:
    table = lake.table()
    append(table, 1)
    before = table.opened.snapshot_id
    append(table, 2)
    task = task_of(table, *METRICS[:4])
    first = measured(lake.spark, lake.config, task)
    table.opened.java.manageSnapshots().rollbackTo(before).commit()
    merged, whole = later(table, task, first)
    assert "not among the table's snapshots" in merged.measured.note
    assert_equal(merged, whole)


def test_windows_that_late_rows_were_written_to_are_measured_too(lake: IcebergLake) -> None:
    table = lake.table()
    append(table, 1)
    append(table, 2, day=DAYS[1])
    today = task_of(table, *METRICS[:4], days=DAYS[1:])
    first = measured(lake.spark, lake.config, today)
    append(table, 3)
    append(table, 4, day=DAYS[1])
    task = changed(today, earlier=first.earlier(), touched=True)
    done = measured(lake.spark, lake.config, task)
    assert done.measured.is_incremental
    assert [done.values(day)["row_count"] for day in DAYS] == [8, 8]


def test_inserts_of_hudi_are_merged_and_updates_are_not(lake: IcebergLake, tmp_path: Path) -> None:
    table = HudiTable(lake.spark, tmp_path / "rows", is_logged=False)
    inserts = {"hoodie.datasource.write.operation": "insert"}
    table.upsert([(1, DAYS[0], "a", 1), (2, DAYS[0], "b", 1)], inserts)
    task = Task(
        id=1, db="hudi", table="rows", format="hudi", location=table.location,
        metrics=METRICS[:4], partition_key="dt", windows=tuple(map(Window, DAYS)),
    )  # fmt: skip
    first = measured(lake.spark, lake.config, task)
    table.upsert([(3, DAYS[0], "c", 1), (4, DAYS[1], "d", 1)], inserts)
    task_later = changed(task, earlier=first.earlier())
    merged = measured(lake.spark, lake.config, task_later)
    assert (merged.measured.is_incremental, merged.measured.note) == (True, "")
    assert merged.measured.rows_read == 2
    assert_equal(merged, measured(lake.spark, lake.config, task))

    table.upsert([(1, DAYS[0], "changed", 2)])
    again = measured(lake.spark, lake.config, changed(task, earlier=merged.earlier()))
    assert not again.measured.is_incremental
    assert "changed or removed rows" in again.measured.note
    assert_equal(again, measured(lake.spark, lake.config, task))
