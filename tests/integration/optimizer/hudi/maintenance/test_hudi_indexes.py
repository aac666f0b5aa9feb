"""Services and the index that a table's writer finds its rows by: no row is lost or doubled."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from stack.stack import LAKE, Stack
from tests.support.hudi_lake import HudiTable, Row
from tests.support.hudi_services import LOCK, SHARED, Services

pytestmark = pytest.mark.spark
BUCKETS = {**SHARED, "hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2"}
RECORDS = {
    **SHARED,
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.index.type": "RECORD_INDEX",
}


@pytest.fixture(scope="module")
def services(spark: SparkSession, embedded_stack: Stack) -> Services:
    return Services(spark, embedded_stack.config(LAKE))


def rows_of(k: int) -> list[Row]:
    return [(i, f"2026-05-0{1 + i % 2}", f"w{k}.{i}", k) for i in range(8)]


@pytest.mark.long
def test_hash_buckets_are_compacted_and_their_clusterings_left_to_the_writer(
    spark: SparkSession, services: Services, tmp_path: Path
) -> None:
    table = HudiTable(spark, tmp_path / "buckets")
    for k in range(2):
        table.upsert(rows_of(k), BUCKETS)

    refused = services.one(table, "CLUSTERING", "SCHEDULE", lock=LOCK)
    planned = services.one(table, "COMPACTION", "SCHEDULE", lock=LOCK)
    done = services.one(table, "COMPACTION", lock=LOCK)

    assert (refused["outcome"], refused["code"]) == ("FAILED", "hudi.hash_buckets")
    assert (planned["outcome"], done["outcome"]) == ("DONE", "DONE")
    assert table.rows(only_base_files=True) == rows_of(1)
    table.upsert(rows_of(2), BUCKETS)
    assert table.rows() == rows_of(2)


@pytest.mark.long
def test_the_record_index_follows_what_services_do(
    spark: SparkSession, services: Services, tmp_path: Path
) -> None:
    table = HudiTable(spark, tmp_path / "records")
    for k in range(2):
        table.upsert(rows_of(k), {**RECORDS, "hoodie.parquet.small.file.limit": "0"})
    held = table.opened.metadata_partitions
    assert "record_index" in held

    for service in ("COMPACTION", "CLUSTERING"):
        for step in ("SCHEDULE", "EXECUTE"):
            found = services.one(table, service, step, lock=LOCK)
            assert (found["outcome"], found["reason"]) == ("DONE", ""), (service, step)

    assert table.opened.metadata_partitions == held
    assert table.rows(only_base_files=True) == rows_of(1)
    table.upsert(rows_of(2), RECORDS)
    assert table.rows() == rows_of(2)
