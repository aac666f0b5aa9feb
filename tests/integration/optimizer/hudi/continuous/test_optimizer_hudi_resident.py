"""A service stays with a table: it sees the writer's plans by itself and executes them.

Its program runs in a thread of this process, and needs no database; the test is the portal.
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from django.db.models import QuerySet
from django.utils import timezone
from pyspark.sql import SparkSession

from optimizer.core.services.dispatcher import choose
from optimizer.hudi.continuous import jobs
from optimizer.hudi.continuous.run_kinds import HudiResidentKind
from optimizer.hudi.inspect.run_kinds import ObserveHudiKind
from optimizer.hudi.planner.run_kinds import HudiServicesKind
from optimizer.hudi.planner.services.maintainer import HUDI
from optimizer.hudi.tables.selectors.resident import RESIDENT
from optimizer.models import HudiTable, OptimizeTask, PolicyVersion
from portal.lake.errors import StaleState
from portal.runs.domain import RunState
from portal.runs.models import Run
from stack.stack import LAKE, Stack
from tests.support import hudi_lake
from tests.support.scan_spark import job_for

pytestmark = [pytest.mark.django_db, pytest.mark.spark]
APART = {"hoodie.compact.inline": "false", "hoodie.clean.automatic": "false"}
PLANS = {"hoodie.compact.schedule.inline": "true", "hoodie.compact.inline.max.delta.commits": "1"}
VALUES = {"is_on": True, "profile": "near-line", "kinds": ["COMPACTION"]}
_PATIENCE_SECONDS = 180.0


@dataclass
class Staying:
    """A run that stays, and the program that does its work."""

    run: Run
    program: Future[dict[str, Any]]

    def until(self, is_there: Callable[[], bool]) -> None:
        """Beat until something holds."""
        kind, ends = HudiResidentKind(), time.monotonic() + _PATIENCE_SECONDS
        while not is_there():
            assert time.monotonic() < ends, list(
                HudiTable.objects.values("decision", "inspection_error")
            )
            assert not self.program.done(), self.program.result()
            kind.beat(self.run)
            time.sleep(0.3)

    def end(self, by: str) -> None:
        """End it as a person does, and take in what it did."""
        self.run.cancel_requested_by = by
        self.run.save()
        HudiResidentKind().beat(self.run)
        with pytest.raises(StaleState, match="was cancelled"):
            self.program.result(timeout=_PATIENCE_SECONDS)
        HudiResidentKind().ingest(self.run, {"outcome": "cancelled", "error": None, "result": {}})


@contextmanager
def staying(spark: SparkSession, stack: Stack, seconds: float = 600) -> Iterator[Staying]:
    job = job_for(spark, stack.config(LAKE), {"stay_seconds": seconds})
    run = Run.objects.create(
        pk=job.run, lake=LAKE, kind=RESIDENT, requested_by="schedule", queued_at=timezone.now(),
        state=RunState.RUNNING, epoch=1, spool=str(job.spool.root), progress_n=1,
    )  # fmt: skip
    with ThreadPoolExecutor() as pool:
        program = pool.submit(jobs.run, spark, job)
        try:
            yield Staying(run, program)
        finally:
            job.spool.write_control({"cancel": True})


@pytest.fixture
def near_line(settings: Any, embedded_stack: Stack) -> None:
    settings.LAKEWARDEN_LAKES = embedded_stack.lakes_file
    PolicyVersion.objects.create(
        lake=LAKE, format="hudi", scope="*", version=1, values=VALUES, by="a",
        at=timezone.now(), reason="t",
    )  # fmt: skip
    HudiTable.objects.all().delete()


def known(table: hudi_lake.HudiTable, **values: Any) -> HudiTable:
    now = timezone.now()
    row: HudiTable = HudiTable.objects.create(
        lake=LAKE, db="hudi", table=table.place.name, location=table.location, properties=APART,
        place=sha256(table.location.encode()).hexdigest(), event_at=now, is_continuous=True,
        **values,
    )  # fmt: skip
    return row


def is_count(rows: QuerySet[OptimizeTask], n: int) -> bool:
    return rows.count() == n


@pytest.mark.long
@pytest.mark.usefixtures("near_line")
def test_it_sees_each_plan_of_the_writers_by_itself_and_executes_it(
    spark: SparkSession, embedded_stack: Stack, tmp_path: Path
) -> None:
    table = hudi_lake.HudiTable(spark, tmp_path / "carts")
    rows = [(i, "2026-05-01", f"a{i}", 1) for i in range(4)]
    table.upsert(rows)
    row = known(table)
    done = OptimizeTask.objects.filter(hudi=row, state="DONE")
    with staying(spark, embedded_stack) as service:
        service.until(lambda: HudiTable.objects.filter(inspected_at__isnull=False).exists())
        for k in (2, 3):
            table.upsert([(i, dt, f"a{i} {k}", k) for i, dt, _, _ in rows], PLANS)
            wanted = table.rows()
            assert table.rows(only_base_files=True) != wanted
            service.until(partial(is_count, done, k - 1))
            assert table.rows(only_base_files=True) == table.rows() == wanted
            service.until(lambda: HudiTable.objects.get().n_pending == 0)
        HudiServicesKind().decide(LAKE, now=timezone.now())
        assert not choose(HUDI, LAKE, now=timezone.now())
        later = timezone.now() + timedelta(minutes=3)
        assert ObserveHudiKind().scheduled_params(LAKE, now=later) is None
        service.end("ada")
    row.refresh_from_db()
    assert (row.inspection_error, row.stale_since, row.log_bytes) == ("", None, 0)
    assert not OptimizeTask.objects.filter(hudi=row, is_open=True).exists()


@pytest.mark.usefixtures("near_line")
def test_a_table_that_vanished_says_so_and_the_others_are_looked_at(
    spark: SparkSession, embedded_stack: Stack, tmp_path: Path
) -> None:
    there = hudi_lake.HudiTable(spark, tmp_path / "there")
    there.upsert([(1, "2026-05-01", "a", 1)])
    gone = known(hudi_lake.HudiTable(spark, tmp_path / "gone"))
    row = known(there)
    with staying(spark, embedded_stack) as service:
        service.until(lambda: HudiTable.objects.get(pk=row.pk).inspected_at is not None)
        service.until(lambda: bool(HudiTable.objects.get(pk=gone.pk).inspection_error))
    gone.refresh_from_db()
    assert "gone" in gone.inspection_error
    assert gone.inspected_at is None


@pytest.mark.usefixtures("near_line")
def test_it_leaves_after_its_time(spark: SparkSession, embedded_stack: Stack) -> None:
    with staying(spark, embedded_stack, seconds=1) as service:
        result = service.program.result(timeout=_PATIENCE_SECONDS)
    assert result["stopped"].startswith("It stayed for as long as one does")
