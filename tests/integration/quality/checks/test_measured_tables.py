"""The program measures Hive, Iceberg and Hudi tables alike, and says of each metric what fails."""

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from portal.connectors.lake_config import LakeConfig
from quality.checks.domain.messages import Task, Window
from quality.checks.domain.metrics import Metric, MetricKind
from stack.stack import LAKE, Stack
from tests.support.checked_tables import NOW, changed, hive_table, measured, run
from tests.support.hudi_lake import HudiTable
from tests.support.iceberg_lake import IcebergLake

pytestmark = pytest.mark.spark
K = MetricKind
DB = "rewrites"
_BIG = 9_000_000_000_000_000_000


@pytest.fixture(scope="module")
def config(embedded_stack: Stack) -> LakeConfig:
    return embedded_stack.config(LAKE)


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    """Two days: five rows with something odd in each column, and two plain ones."""
    at = datetime(2026, 5, 2, 23, 0, tzinfo=UTC)
    data = [
        ("2026-05-01", 1, 1, Decimal("1.10"), 0.5, "a@x", at, date(2026, 5, 1)),
        ("2026-05-01", 2, _BIG, Decimal("2.20"), 1.5, "b@x", at, date(2026, 5, 1)),
        ("2026-05-01", 2, _BIG, None, 2.5, "nobody", at, None),
        ("2026-05-01", 3, -5, Decimal("-3.30"), 3.5, None, None, None),
        ("2026-05-01", None, None, Decimal("0.00"), 4.5, "", None, None),
        ("2026-05-02", 7, 10, Decimal("5.00"), float("nan"), "c@x", at, None),
        ("2026-05-02", 8, 20, Decimal("6.00"), 1.0, "d@x", at, None),
    ]
    return spark.createDataFrame(
        data,
        "dt string, id int, big bigint, amount decimal(10,2), ratio double, mail string, "
        "at timestamp, born date",
    )


METRICS = (
    Metric(K.ROW_COUNT),
    Metric(K.ROW_COUNT, where="amount > 0"),
    Metric(K.NULL_RATE, ("id",)),
    Metric(K.NULL_COUNT, ("mail",)),
    Metric(K.UNIQUENESS, ("id",)),
    Metric(K.DUPLICATE_ROWS, ("id", "big")),
    Metric(K.DISTINCT_COUNT, ("id",)),
    Metric(K.APPROX_DISTINCT_COUNT, ("id",)),
    Metric(K.SUM, ("big",)),
    Metric(K.SUM, ("amount",)),
    Metric(K.MEAN, ("amount",)),
    Metric(K.MIN, ("amount",)),
    Metric(K.MAX, ("born",)),
    Metric(K.STDDEV, ("ratio",)),
    Metric(K.MAX, ("ratio",)),
    Metric(K.QUANTILE, ("id",), q=0.5),
    Metric(K.REGEX_RATE, ("mail",), pattern="^[a-z]+@x$"),
    Metric(K.RANGE_RATE, ("amount",), low=0, high=2.2),
    Metric(K.IN_SET_RATE, ("id",), values=("1", "2")),
    Metric(K.MIN_LENGTH, ("mail",)),
    Metric(K.MAX_LENGTH, ("mail",)),
    Metric(K.FRESHNESS, ("at",)),
    Metric(K.SCHEMA, types={"id": "int", "mail": "string", "gone": "string", "big": "int"}),
    Metric(K.CUSTOM_SQL, sql="SELECT sum(amount) FROM {rows} r WHERE r.amount < 0"),
)
EXPECTED = {
    "row_count": 5,
    "row_count where amount > 0": 2,
    "null_rate(id)": 0.2,
    "null_count(mail)": 1,
    "uniqueness(id)": 0.5,
    "duplicate_rows(id, big)": 1,
    "distinct_count(id)": 3,
    "approx_distinct_count(id)": 3,
    "sum(big)": float(2 * _BIG - 4),
    "sum(amount)": 0.0,
    "mean(amount)": 0.0,
    "min(amount)": -3.3,
    "max(born)": datetime(2026, 5, 1, tzinfo=UTC).timestamp(),
    "stddev(ratio)": pytest.approx(2.5**0.5),
    "max(ratio)": 4.5,
    "quantile(id, q=0.5)": 2,
    "range_rate(amount, 0..2.2)": 0.75,
    "min_length(mail)": 0,
    "max_length(mail)": 6,
    "freshness(at)": 3600,
    METRICS[16].key: 0.5,
    METRICS[18].key: 0.75,
    METRICS[22].key: 2,
    METRICS[23].key: -3.3,
}


def task_of(table: str, *metrics: Metric, days: tuple[str, ...] = ("2026-05-01",)) -> Task:
    return Task(
        id=1,
        db=DB,
        table=table,
        format="hive",
        metrics=metrics or METRICS,
        partition_key="dt",
        windows=tuple(Window(one) for one in days),
    )


@pytest.fixture(scope="module")
def hive(spark: SparkSession, config: LakeConfig, rows: DataFrame) -> str:
    return hive_table(spark, config, rows, db=DB, key="dt")


def test_all_metrics_of_a_hive_partition(
    spark: SparkSession, config: LakeConfig, hive: str
) -> None:
    done = measured(spark, config, task_of(hive))
    assert done.measured.note == ""
    assert done.values("2026-05-01") == EXPECTED
    assert (
        done.of("2026-05-01")[METRICS[22].key].detail == "gone is missing; big is bigint, not int"
    )
    assert done.measured.rows_read == 5


def test_bounds_of_a_range_are_as_they_were_written(
    spark: SparkSession, config: LakeConfig, hive: str
) -> None:
    """Between two digits of a column's type, and beyond what its type can hold."""
    ranges = (
        (Metric(K.RANGE_RATE, ("id",), low=1.5, high=2.5), 0.5),
        (Metric(K.RANGE_RATE, ("id",), low=2.5), 0.25),
        (Metric(K.RANGE_RATE, ("amount",), low=-3.305, high=-3.295), 0.25),
        (Metric(K.RANGE_RATE, ("amount",), low=-3.304, high=-3.301), 0),
        (Metric(K.RANGE_RATE, ("big",), low=-1e30, high=1e30), 1),
        (Metric(K.RANGE_RATE, ("ratio",), low=0.5, high=2.5), 0.6),
    )
    done = measured(spark, config, task_of(hive, *(one for one, _ in ranges)))
    found = done.values("2026-05-01")
    assert [found[one.key] for one, _ in ranges] == [share for _, share in ranges]


def test_windows_are_measured_together_and_an_empty_one_has_reasons(
    spark: SparkSession, config: LakeConfig, hive: str
) -> None:
    days = ("2026-05-01", "2026-05-02", "2026-05-09")
    plain = [Metric(K.ROW_COUNT), Metric(K.MAX, ("ratio",)), Metric(K.NULL_RATE, ("id",))]
    done = measured(spark, config, task_of(hive, *plain, days=days))
    assert done.measured.n_passes == 1
    assert [done.values(day)["row_count"] for day in days] == [5, 2, 0]
    assert done.of("2026-05-02")["max(ratio)"].reason == "not_a_number"
    assert done.of("2026-05-09")["null_rate(id)"].reason == "empty_window"
    assert done.of("2026-05-09")["max(ratio)"].reason == "empty_window"


def test_a_metric_that_fails_leaves_the_others(
    spark: SparkSession, config: LakeConfig, hive: str
) -> None:
    metrics = (
        Metric(K.MEAN, ("vanished",)),
        Metric(K.MEAN, ("mail",)),
        Metric(K.ROW_COUNT, where="vanished > 1"),
        Metric(K.ROW_COUNT, where="raise_error('no') is null"),
        Metric(K.CUSTOM_SQL, sql="SELECT vanished FROM {rows}"),
        Metric(K.CUSTOM_SQL, sql="SELECT mail FROM {rows}"),
        Metric(K.CUSTOM_SQL, sql="SELECT count(*) FROM elsewhere.x"),
        Metric(K.REFERENTIAL_RATE, ("id",), other_table=f"{DB}.nowhere", other_column="id"),
        Metric(K.SUM, ("amount",)),
    )
    done = measured(spark, config, task_of(hive, *metrics))
    reasons = [one.reason for one in done.of("2026-05-01").values()][1:]
    assert reasons == [
        "column_gone", "wrong_type", "column_gone", "failed", "column_gone", "failed", "refused",
        "table_gone", "",
    ]  # fmt: skip
    assert done.values("2026-05-01")["row_count"] == 5


def test_sql_that_does_not_end_is_cancelled(
    spark: SparkSession, config: LakeConfig, hive: str
) -> None:
    endless = Metric(
        K.CUSTOM_SQL,
        sql="SELECT count(*) FROM {rows} a CROSS JOIN (SELECT explode(sequence(1, 1000000)) AS x) "
        "b CROSS JOIN (SELECT explode(sequence(1, 1000000)) AS y) c WHERE hash(x, y) = 1",
    )
    task = changed(task_of(hive, endless, Metric(K.ROW_COUNT)), sql_seconds=2.0)
    done = measured(spark, config, task)
    assert done.of("2026-05-01")[endless.key].reason == "timed_out"
    assert done.values("2026-05-01")["row_count"] == 5
    assert spark.sparkContext.statusTracker().getActiveJobsIds() == []


def test_other_tables_and_samples(
    spark: SparkSession, config: LakeConfig, hive: str, rows: DataFrame
) -> None:
    customers = hive_table(spark, config, rows.where("id in (1, 7)").select("id"), db=DB)
    source = hive_table(spark, config, rows.where("id > 1"), db=DB, key="dt")
    found = Metric(K.REFERENTIAL_RATE, ("id",), other_table=f"{DB}.{customers}", other_column="id")
    metrics = (
        found,
        Metric(K.ROW_COUNT_DIFFERENCE, other_table=f"{DB}.{source}"),
        Metric(K.CUSTOM_SQL, sql=f"WITH c AS (SELECT id FROM {DB}.{customers}) SELECT count(*) "
               "FROM {rows} r JOIN c ON r.id = c.id"),
        Metric(K.NULL_COUNT, ("mail",)),
        Metric(K.UNIQUENESS, ("id",)),
        Metric(K.RANGE_RATE, ("id",), low=0),
    )  # fmt: skip
    task = changed(task_of(hive, *metrics), sample=tuple(one.key for one in metrics))
    done = measured(spark, config, task)
    assert list(done.values("2026-05-01").values()) == [5, 0.25, 2, 1, 1, 0.5, 1]
    ids = {
        one.key: sorted(str(row[one.columns.index("id")]) for row in one.rows)
        for one in done.samples.samples
    }
    assert ids == {
        found.key: ["2", "2", "3"],
        "null_count(mail)": ["3"],
        "uniqueness(id)": ["2", "2"],
    }


def test_samples_are_few_and_narrow_and_have_the_measured_column(
    spark: SparkSession, config: LakeConfig, rows: DataFrame
) -> None:
    wide = rows.select(
        *[F.lit("x" * 900).alias(f"c{n}") for n in range(60)], F.lit(None).cast("int").alias("Gap")
    )
    table = hive_table(spark, config, wide, db=DB)
    metric = Metric(K.NULL_COUNT, ("gap",))
    other = Metric(K.NULL_RATE, ("gap",))
    task = changed(
        task_of(table, metric, other, days=("",)),
        partition_key="",
        sample=(metric.key, other.key),
        most_samples=2,
        most_sampled=1,
    )
    (sample,) = measured(spark, config, task).samples.samples
    assert (len(sample.rows), len(sample.columns)) == (2, 50)
    assert sample.columns[0].lower() == "gap"
    assert {len(value) for value in sample.rows[0] if value is not None} == {200}


def test_what_the_metastore_says_a_directory_is_counts(
    spark: SparkSession, config: LakeConfig, rows: DataFrame
) -> None:
    moved = hive_table(spark, config, rows, db=DB, key="dt", moved={"2026-05-02": "2026-06-02"})
    days = ("2026-05-02", "2026-06-02")
    done = measured(spark, config, task_of(moved, Metric(K.ROW_COUNT), days=days))
    assert [done.values(day)["row_count"] for day in days] == [0, 2]


def test_a_table_that_is_gone_stops_no_other(
    spark: SparkSession, config: LakeConfig, hive: str
) -> None:
    tasks = (changed(task_of("nowhere"), id=1), changed(task_of(hive, Metric(K.ROW_COUNT)), id=2))
    gone, there = run(spark, config, *tasks)
    assert (gone.measured.state, gone.measured.reason) == ("failed", "table_gone")
    assert there.values("2026-05-01") == {"row_count": 5}


def test_iceberg_and_hudi_tables_give_the_same(
    spark: SparkSession, config: LakeConfig, iceberg_lake: IcebergLake, tmp_path: Path
) -> None:
    written = [(1, "2026-05-01", "a", 1), (2, "2026-05-01", "b", 2), (3, "2026-05-02", "c", 3)]
    iceberg = iceberg_lake.table()
    iceberg.append([row[:3] for row in written])
    hudi = HudiTable(spark, tmp_path / "rows")
    hudi.upsert(written)
    metrics = (
        Metric(K.ROW_COUNT),
        Metric(K.SUM, ("id",)),
        Metric(K.SCHEMA, types={"_hoodie_x": ""}),
    )
    days = ("2026-05-01", "2026-05-02")
    of_iceberg = changed(
        task_of(iceberg.name, *metrics, days=days), format="iceberg", db=iceberg_lake.db
    )
    of_hudi = changed(
        task_of("rows", *metrics, days=days), id=2, format="hudi", location=hudi.location
    )
    for done in run(spark, config, of_iceberg, of_hudi):
        assert done.measured.state == "done", done.measured.note
        assert [list(done.values(day).values()) for day in days] == [[2, 3, 1], [1, 3, 1]]
        assert done.measured.commit


def test_the_clock_of_a_measurement_is_the_runs(
    spark: SparkSession, config: LakeConfig, hive: str
) -> None:
    end = datetime(2026, 5, 2, 23, 30, tzinfo=UTC)
    task = changed(
        task_of(hive, Metric(K.FRESHNESS, ("at",))), windows=(Window("2026-05-01", end),)
    )
    done = measured(spark, config, task)
    assert done.values("2026-05-01")["freshness(at)"] == 1800
    assert done.measured.measured_at == NOW
