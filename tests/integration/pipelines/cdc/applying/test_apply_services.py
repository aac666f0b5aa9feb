"""The writer schedules compactions, the optimizer's services execute them, and versions hold."""

from pathlib import Path

import pytest

from pipelines.cdc.applying.domain.hudi_settings import VERSION, service_settings
from tests.support.changelogs import Pipeline, change, folded
from tests.support.hudi_lake import HudiTable
from tests.support.hudi_services import LOCK, Services

pytestmark = pytest.mark.spark


def test_a_plan_of_the_writer_is_executed_beside_it_and_late_changes_stay_late(
    pipeline: Pipeline, tmp_path: Path
) -> None:
    table = pipeline.table(lock=LOCK, settings={"hoodie.compact.inline.max.delta.commits": "2"})
    changes = [change("c", 1, 10), change("c", 2, 11), change("u", 1, 20), change("d", 2, 21)]
    for batch in (changes[:2], changes[2:]):
        pipeline.log.write(batch)
    pipeline.run(at_once=1)
    hudi = HudiTable(pipeline.spark, tmp_path / "lake1" / "carts")
    (plan,) = hudi.look().plans
    services = Services(pipeline.spark, pipeline.config)
    done = services.one(hudi, "COMPACTION", properties=service_settings(table), lock=LOCK)
    assert (done["outcome"], done["done"][0]["instant"]) == ("DONE", plan.instant), done
    reader = pipeline.spark.read.format("hudi")
    base = reader.option("hoodie.datasource.query.type", "read_optimized").load(table.location)
    assert [tuple(one) for one in base.select("id", VERSION).collect()] == [(1, 20)]

    late = [change("u", 2, 12), change("d", 1, 13)]
    newer = change("c", 3, 30)
    pipeline.log.write([*late, newer])
    pipeline.run()
    report = pipeline.report()
    assert (report.failure, report.n_late, report.foreign) == (None, 2, ())
    assert pipeline.rows() == folded([*changes, *late, newer])


def test_rows_that_somebody_else_wrote_are_told(pipeline: Pipeline) -> None:
    table = pipeline.table()
    pipeline.log.write([change("c", 1, 1)])
    pipeline.run()
    rows = pipeline.spark.read.format("hudi").load(table.location).where("id = 1")
    rows = rows.selectExpr("id", "day", "'stranger' AS word", "qty", VERSION)
    writer = rows.write.format("hudi").option("hoodie.table.name", "carts")
    writer = writer.option("hoodie.datasource.write.operation", "upsert")
    writer.option("hoodie.metadata.enable", "false").mode("append").save(table.location)
    pipeline.log.write([change("u", 1, 2)])
    pipeline.run()
    report = pipeline.report()
    assert report.failure is None
    assert len(report.foreign) == 1
    assert pipeline.rows() == folded([change("u", 1, 2)])
