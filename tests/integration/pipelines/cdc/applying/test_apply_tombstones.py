"""Tombstones stay few files, keep the greatest version of a key, and are forgotten in the end."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pipelines.cdc.applying.jobs import tombstones
from pipelines.cdc.applying.jobs.kept import KeptFiles
from pipelines.cdc.applying.jobs.tombstones import Tombstones
from portal.connectors.local_filesystem import LocalFileSystem
from portal.lake.paths import LakePath

pytestmark = pytest.mark.spark
DAY = 86_400_000


def test_many_files_become_one_without_what_is_too_old(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tombstones, "MOST_FILES", 2)
    kept = KeptFiles(spark, LocalFileSystem(), LakePath.parse(f"file:{tmp_path}/tombstones"))
    ours = Tombstones(kept, keep_days=10)
    assert ours.newest == 0
    for key, version, day in (("a", 1, 0), ("b", 5, 9), ("a", 3, 9), ("c", 2, 1)):
        deletes = spark.createDataFrame(
            [(key, version, day * DAY)], "id STRING, version INT, at LONG"
        )
        ours.add(
            deletes.selectExpr("id", "CAST(version AS BIGINT) AS version", "at"), newest=version
        )
    ours.compact(now_ms=12 * DAY)
    assert len(kept.files()) == 1
    assert ours.newest == 5
    assert Tombstones(kept, keep_days=10).newest == 5
    rows = [("a", 3), ("a", 4), ("b", 4), ("c", 1), ("d", 1)]
    upserts = spark.createDataFrame(rows, "id STRING, version LONG")
    found = sorted(tuple(one) for one in ours.alive(upserts).collect())
    assert found == [("a", 4), ("c", 1), ("d", 1)]
    ours.compact(now_ms=40 * DAY)
    assert len(kept.files()) == 1
