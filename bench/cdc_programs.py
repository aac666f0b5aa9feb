"""The two programs of change capture as the bench runs them: a capture, and the staying apply."""

import calendar
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import msgspec
from pyspark.sql import SparkSession

from pipelines.cdc.applying.domain.hudi_settings import NEWEST
from pipelines.cdc.applying.domain.messages import (
    Orders,
    PipelineOrder,
    TableOrder,
    TableReport,
)
from pipelines.cdc.applying.jobs import apply
from pipelines.cdc.capture.domain.config import SourceConfig
from pipelines.cdc.capture.services.capture import capture_run
from pipelines.cdc.changes.connectors.directory_log import DirectoryLog
from pipelines.cdc.changes.domain.positions import Position
from pipelines.cdc.changes.domain.schemas import TableSchema
from pipelines.cdc.control.domain.plans import DecidedSchema, Decision, table_plan
from portal.connectors.local_filesystem import LocalFileSystem
from portal.lake.errors import NotVisible, StaleState
from portal.lake.ids import LakeId
from portal.lake.paths import LakePath
from portal.spark.job import JobContext
from tests.support.captured import is_caught_up
from tests.support.lakes import local_lake
from tests.support.scan_spark import job_for

PATIENCE_SECONDS = 7_200.0
_SPAWN = get_context("spawn")


def log_at(root: Path) -> DirectoryLog:
    """Return the changelog below a folder, which is made on the first use."""
    return DirectoryLog(LocalFileSystem(), LakePath.parse(str(root)))


def last_of(log: DirectoryLog) -> int:
    """Return the number of a changelog's last batch."""
    end = log.end()
    return end[0] if end else 0


@contextmanager
def capturing(config: SourceConfig, root: Path) -> Iterator[None]:
    """Run a capture as a process of its own, as production does, until the block ends."""
    stop = _SPAWN.Event()
    log_at(root)
    process = _SPAWN.Process(target=_capture, args=(config, str(root), stop))
    process.start()
    try:
        yield
    finally:
        stop.set()
        process.join(60)
        if process.exitcode != 0:
            process.kill()
            raise SystemExit(f"The capture ended with {process.exitcode}.")


def _capture(config: SourceConfig, root: str, stop: Event) -> None:
    capture_run(config, log_at(Path(root)), lambda _: None, stop.is_set)


def capture_until(config: SourceConfig, root: Path, there: Position) -> None:
    """Capture until the changelog has everything up to a position, full loads too."""
    with capturing(config, root):
        wait(lambda: is_caught_up(log_at(root), there))


def wait(is_done: Callable[[], bool], *, every: float = 0.25) -> None:
    """Wait until something is so; what is not there yet is not."""
    ends = time.monotonic() + PATIENCE_SECONDS
    while True:
        with suppress(NotVisible):
            if is_done():
                return
        if time.monotonic() > ends:
            raise SystemExit("Waited in vain.")
        time.sleep(every)


def table_order(number: int, schema: TableSchema, location: Path) -> TableOrder:
    """Return the order of a table that is not partitioned, as the portal makes it."""
    plan = table_plan([DecidedSchema(schema, Decision.NONE)])
    return TableOrder(
        id=number,
        db=schema.db,
        table=schema.table,
        target_db="lake",
        target_table=schema.table,
        location=f"file:{location}",
        columns=plan.columns,
        key=schema.key,
        schemas=plan.schemas,
        is_synced=False,
    )


def pipeline_order(
    number: int, changelog: Path, folder: Path, tables: Sequence[TableOrder]
) -> PipelineOrder:
    """Return the order of one changelog."""
    return PipelineOrder(number, f"file:{changelog}", f"file:{folder}", tuple(tables))


@dataclass
class Application:
    """The program that applies, in a thread of this process."""

    spark: SparkSession
    folder: Path
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))
    _job: JobContext | None = None
    _ended: "Future[Any] | None" = None

    def apply_all(self, *pipelines: PipelineOrder) -> None:
        """Apply what is there, and end."""
        job = self._job_of(pipelines, seconds=0)
        apply.run(self.spark, job)

    @contextmanager
    def staying(self, *pipelines: PipelineOrder) -> Iterator[None]:
        """Have it stay until the block ends."""
        job = self._job_of(pipelines, seconds=86_400)
        ended = self._pool.submit(apply.run, self.spark, job)
        try:
            yield
        finally:
            job.spool.write_control({"cancel": True})
            with suppress(StaleState):
                ended.result(300)

    def report(self, number: int) -> TableReport:
        """Return what was said of a table last.

        Raises:
            NotVisible: nothing was said of it yet.
        """
        if self._job is None:
            raise SystemExit("Nothing is applied yet.")
        path = self._job.spool.results.child("tables", f"{number}.json")
        found = msgspec.json.decode(self._job.spool.fs.read(path), type=TableReport)
        if found.failure is not None:
            raise SystemExit(f"{found.failure.code}: {found.failure.message}")
        return found

    def _job_of(self, pipelines: Sequence[PipelineOrder], *, seconds: int) -> JobContext:
        config = replace(local_lake(self.folder, LakeId("bench")), time_zone="UTC")
        orders = msgspec.to_builtins(Orders(tuple(pipelines)))
        self._job = job_for(self.spark, config, {"apply": orders, "stay_seconds": seconds})
        return self._job


@dataclass(frozen=True)
class Commit:
    """One commit of change capture: when readers saw it, in seconds, and the newest version."""

    at: float
    version: int


def commits(spark: SparkSession, location: str) -> list[Commit]:
    """Return the commits of a table that end a batch, in their order."""
    jvm: Any = spark.sparkContext._jvm
    conf = spark.sparkContext._jsc.hadoopConfiguration()
    storage = jvm.org.apache.hudi.hadoop.fs.HadoopFSUtils.getStorageConf(conf)
    common = jvm.org.apache.hudi.common.table
    builder = common.HoodieTableMetaClient.builder().setConf(storage)
    timeline = builder.setBasePath(location).build().getActiveTimeline()
    done = timeline.getCommitsTimeline().filterCompletedInstants()
    found = []
    for instant in done.getInstants():
        metadata = common.timeline.TimelineUtils.getCommitMetadata(instant, done)
        newest = metadata.getMetadata(NEWEST)
        if newest is not None:
            found.append(Commit(_seconds(str(instant.getCompletionTime())), int(newest)))
    return sorted(found, key=lambda one: one.at)


def _seconds(instant: str) -> float:
    whole = time.strptime(instant[:14], "%Y%m%d%H%M%S")
    return calendar.timegm(whole) + int(instant[14:] or 0) / 1000
