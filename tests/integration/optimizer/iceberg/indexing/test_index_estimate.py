"""What an index would do, from a sample, against what one does when it is built."""

from datetime import UTC, datetime
from typing import Any

from optimizer.iceberg.indexing.jobs import estimate
from tests.support.iceberg_lake import IcebergLake, WrittenTable
from tests.support.scan_spark import job_for

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
N_FILES, ROWS = 24, 300


def estimated(table: WrittenTable, *columns: str) -> dict[str, Any]:
    params = {
        "db": table.lake.db,
        "table": table.name,
        "uuid": table.opened.uuid,
        "columns": list(columns),
        "queries_a_day": 100_000,
        "uses": {"word": ["part"]},
    }
    return estimate.run(
        table.lake.spark, job_for(table.lake.spark, table.lake.config, params, now=NOW)
    )


def test_each_column_gets_the_kind_that_fits_from_a_sample(iceberg_lake: IcebergLake) -> None:
    table = iceberg_lake.table(by="", write__distribution__mode="none")
    spark = iceberg_lake.spark
    table.say("ALTER TABLE {t} ADD COLUMNS (few int, same int, empty int, ordered bigint)")
    rows = spark.range(0, N_FILES * ROWS, 1, N_FILES).selectExpr(
        "xxhash64(id) id",
        "'d' dt",
        "concat('user ', xxhash64(id, 1) % 100000) word",
        "cast(id % 5 AS int) few",
        "1 same",
        "cast(null AS int) empty",
        "id ordered",
    )
    rows.writeTo(table.sql).append()
    assert len(table.files()) == N_FILES

    names = ("id", "few", "same", "empty", "ordered", "word", "gone")
    found = estimated(table, *names)

    assert (found["n_files"], found["n_sampled"]) == (N_FILES, 16)
    assert [one["column"] for one in found["refused"]] == ["gone"]
    by_name = {one["column"]: one for one in found["columns"]}
    assert set(by_name) == set(names) - {"gone"}
    assert by_name["same"]["kind"] == by_name["empty"]["kind"] == ""
    assert "only nulls" in by_name["empty"]["reason"]
    assert by_name["few"]["kind"] == "bitmap"
    # Recorded scans look for parts of its text, which its type alone would not tell.
    assert (by_name["word"]["kind"], by_name["word"]["uses"]) == ("ngram_bloom", ["part"])
    # Every file holds each of the five values, so no look-up opens fewer files.
    bitmap = next(one for one in by_name["few"]["kinds"] if one["kind"] == "bitmap")
    assert bitmap["decision"] == "refuse"
    ids = {one["kind"]: one for one in by_name["id"]["kinds"]}
    assert ids["bloom"]["decision"] == "build", ids["bloom"]
    assert ids["bloom"]["figures"]["files_without"] > 0.8 * N_FILES
    assert ids["bloom"]["figures"]["files_with"] < 2
    # Least and greatest find it already.
    ordered = {one["kind"]: one for one in by_name["ordered"]["kinds"]}
    assert ordered["bloom"]["decision"] == "refuse", ordered["bloom"]


def test_a_table_without_rows_and_a_deleted_row_are_no_trouble(iceberg_lake: IcebergLake) -> None:
    table = iceberg_lake.table()
    found = estimated(table, "id")
    assert found["n_files"] == 0
    assert found["columns"][0]["kind"] == ""
    table.append([(1, "2026-05-01", "a"), (2, "2026-05-01", None)])
    table.say("DELETE FROM {t} WHERE id = 1")
    assert estimated(table, "id", "word")["n_sampled"] == 1
