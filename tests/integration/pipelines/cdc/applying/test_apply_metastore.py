"""The first commit makes the table known to the metastore, and what it says suits the services."""

from typing import Any

import pytest

from pipelines.cdc.applying.domain.messages import Column, SchemaPlan
from portal.connectors.metastore import Metastore
from portal.lake.names import TableName
from tests.support.changelogs import COLUMNS, NAMES, Pipeline, change, folded
from tests.support.hudi_services import LOCK

pytestmark = pytest.mark.spark
NOTED = (*COLUMNS, Column("note", "string"))


@pytest.mark.timeout(300)
def test_the_metastore_has_the_table_its_partitions_and_new_columns(pipeline: Pipeline) -> None:
    first, second = [change("c", 1, 1)], [change("c", 2, 2), change("u", 1, 4)]
    pipeline.table("synced", partition="day", is_synced=True, target_db="cdc_lake", lock=LOCK)
    pipeline.log.write([change("c", 1, 1, table="synced")])
    pipeline.run()
    assert pipeline.report("synced").failure is None, pipeline.report("synced")
    name = TableName(pipeline.config.lake, "cdc_lake", "synced")
    with Metastore.connect(pipeline.config) as metastore:
        made = metastore.table(name)
        assert metastore.partition_names(name) == ["day=2026-05-02"]
    said: dict[str, Any] = made.parameters
    assert said["hoodie.compact.inline"] == "false"
    assert said["hoodie.write.lock.provider"] == LOCK["hoodie.write.lock.provider"]
    assert said["hoodie.write.concurrency.mode"] == "optimistic_concurrency_control"
    assert made.sd.location == pipeline.tables["synced"].location

    live = SchemaPlan(2, live={**NAMES, "note": "note"})
    pipeline.table("synced", columns=NOTED, schemas=(SchemaPlan(1, live=NAMES), live))
    pipeline.log.write(
        [change(one.op, int(one.key["id"] or 0), one.version, table="synced") for one in second]
    )
    pipeline.run()
    report = pipeline.report("synced")
    assert (report.failure, report.columns) == (None, NOTED)
    assert pipeline.rows("synced") == folded([*first, *second])
    with Metastore.connect(pipeline.config) as metastore:
        names = [one.name for one in metastore.table(name).sd.cols]
        assert metastore.partition_names(name) == ["day=2026-05-02", "day=2026-05-03"]
    assert names[-5:] == ["id", "word", "qty", "_lw_version", "note"]
