"""What rewriting knows of a Hudi table: columns, and the newest commit, in Spark and without it."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from optimizer.rewriting.domain.facts import HUDI, TableFacts
from optimizer.rewriting.domain.hudi_instants import newest_instant
from optimizer.rewriting.jobs import read_tables
from tests.support.hudi_lake import HudiTable, written
from tests.support.iceberg_lake import IcebergLake
from tests.support.scan_spark import job_for

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)


def facts_of(lake: IcebergLake, table: HudiTable) -> TableFacts:
    params: dict[str, Any] = {"tables": ["shop.rows"], "hudi": {"shop.rows": table.location}}
    found = read_tables.run(lake.spark, job_for(lake.spark, lake.config, params, now=NOW))
    return TableFacts.from_json(found["tables"]["shop.rows"])


def names(table: HudiTable) -> list[str]:
    return [one.name for one in table.timeline.iterdir()]


def test_the_newest_commit_is_that_of_the_timeline_after_each_write(
    iceberg_lake: IcebergLake, tmp_path: Path
) -> None:
    table = HudiTable(iceberg_lake.spark, tmp_path / "rows")
    written(table, 1)
    first = facts_of(iceberg_lake, table)
    assert (first.format, first.uuid) == (HUDI, table.location)
    assert first.columns == {"id": "bigint", "dt": "string", "word": "string", "ts": "bigint"}
    assert first.snapshot_id == newest_instant(names(table))
    table.upsert([(1, "2026-05-01", "new", 99)])
    second = facts_of(iceberg_lake, table)
    assert second.snapshot_id == newest_instant(names(table))
    assert (second.snapshot_id or 0) > (first.snapshot_id or 0)
