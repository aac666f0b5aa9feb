"""The program stays, takes newer orders from its control file, and ends when it is told to."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pipelines.cdc.applying.domain.messages import PipelineOrder
from pipelines.cdc.applying.jobs import apply
from portal.lake.errors import NotVisible, StaleState
from portal.spark.job import CANCELLED
from tests.support.changelogs import Pipeline, change, folded, orders_of
from tests.support.scan_spark import job_for

pytestmark = pytest.mark.spark
_PATIENCE_SECONDS = 120.0


def until(found: Callable[[], Any]) -> None:
    ends = time.monotonic() + _PATIENCE_SECONDS
    while True:
        with suppress(NotVisible):
            if found():
                return
        assert time.monotonic() < ends
        time.sleep(0.2)


def paused(order: PipelineOrder) -> Any:
    return {"pipelines": [msgspec.to_builtins(msgspec.structs.replace(order, is_paused=True))]}


def test_it_stays_takes_newer_orders_and_ends_when_told(pipeline: Pipeline) -> None:
    first, second, third = change("c", 1, 1), change("c", 2, 2), change("d", 1, 3)
    pipeline.table(state="paused")
    pipeline.log.write([first])
    job = job_for(
        pipeline.spark, pipeline.config, {"apply": orders_of(pipeline), "stay_seconds": 600}
    )
    pipeline.job = job
    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(apply.run, pipeline.spark, job)
        try:
            until(lambda: pipeline.report().n_waiting == 1)
            assert pipeline.report().state == "paused"
            pipeline.table(state="live")
            # Orders that contradict themselves change nothing.
            job.spool.write_control({"apply": {"pipelines": 1}})
            time.sleep(1.5)
            job.spool.write_control({"apply": orders_of(pipeline)})
            until(lambda: pipeline.report().n_upserted == 1)
            pipeline.log.write([second])
            until(lambda: pipeline.report().n_upserted == 2)

            job.spool.write_control({"apply": paused(pipeline.order)})
            until(lambda: pipeline.said().state == "paused")
            pipeline.log.write([third])
            time.sleep(1.5)
            assert pipeline.rows() == folded([first, second])
            job.spool.write_control({"apply": orders_of(pipeline)})
            until(lambda: pipeline.report().n_deleted == 1)
        finally:
            job.spool.write_control({"cancel": True})
        with pytest.raises(StaleState) as stopped:
            ended.result(_PATIENCE_SECONDS)
    assert stopped.value.code == CANCELLED
    assert pipeline.rows() == folded([second])
    report = pipeline.said()
    assert (report.batch, report.captured_at, report.failure) == (3, 1_000, None)
    assert report.lag_seconds > 0


def test_a_table_that_gets_another_place_is_written_whole_while_it_stays(
    pipeline: Pipeline,
) -> None:
    before = [change("c", 1, 1), change("c", 2, 2)]
    pipeline.table()
    pipeline.table("orders")
    pipeline.log.write([*before, change("c", 7, 3, table="orders")])
    job = job_for(
        pipeline.spark, pipeline.config, {"apply": orders_of(pipeline), "stay_seconds": 600}
    )
    pipeline.job = job
    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(apply.run, pipeline.spark, job)
        try:
            until(lambda: pipeline.report().n_upserted == 2)
            place = pipeline.tables["carts"].location
            # Until it has a place it has no order, and the changelog goes on.
            moved = pipeline.tables.pop("carts")
            job.spool.write_control({"apply": orders_of(pipeline)})
            pipeline.log.write([change("d", 2, 10)])
            until(lambda: pipeline.said().batch == 2)
            pipeline.tables["carts"] = msgspec.structs.replace(moved, location=f"{place}_2")
            job.spool.write_control({"apply": orders_of(pipeline)})
            # Its report may be that of the former place, where the last batch came in time.
            commits = Path(f"{place}_2".removeprefix("file:"), ".hoodie", "timeline")
            until(lambda: any(commits.glob("*.deltacommit")))
        finally:
            job.spool.write_control({"cancel": True})
        with pytest.raises(StaleState):
            ended.result(_PATIENCE_SECONDS)
    assert pipeline.rows() == folded([*before, change("d", 2, 10)])
    assert pipeline.rows("orders") == folded([change("c", 7, 3)])
