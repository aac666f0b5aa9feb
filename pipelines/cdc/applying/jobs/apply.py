"""The program that stays and applies changelogs to Hudi tables, as the portal orders.

Orders (`domain.messages.Orders`) stand in the request, and newer ones in the control file, below
`apply`. Reports stand below the spool's results. It ends when it is told to and after
`stay_seconds`; with 0 it applies what is there and ends.
"""

import time
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import msgspec
from pyspark.sql import SparkSession

from pipelines.cdc.applying.domain.messages import Orders, read_orders
from pipelines.cdc.applying.jobs.pipeline import PipelineRun
from pipelines.cdc.applying.jobs.places import Places
from pipelines.cdc.applying.jobs.target import check_hudi, read_old_dates
from portal.lake.counts import count_words
from portal.lake.errors import ExternalFailure, PortalError
from portal.spark.job import JobContext

ORDERS = "apply"
_PAUSE_SECONDS = 0.5
_TELL_SECONDS = 10.0
_MOST_SILENT = 120
_STAYED = "It stayed for as long as one does; another takes its place."
_DONE = "Everything that was there is applied."


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Stay; returns why it ended, the rest stands in files."""
    check_hudi(spark, lake=str(job.config.lake))
    read_old_dates(spark)
    for name in ("pipelines", "tables"):
        job.spool.fs.make_directories(job.spool.results.child(name), mode=0o700)
    orders = read_orders(job.params[ORDERS])
    with ThreadPoolExecutor(orders.most_tables_at_once, "tables") as pool:
        service = Applying(job, pool)
        try:
            return {"stopped": service.stay(orders, float(job.params["stay_seconds"]))}
        finally:
            service.stop()


@dataclass
class Applying:
    """One program's stay."""

    job: JobContext
    pool: Executor
    _pipelines: dict[int, PipelineRun] = field(default_factory=dict)
    _orders: Any = None
    _n_silent: int = 0
    _written: dict[str, bytes] = field(default_factory=dict)
    _told_at: float = float("-inf")

    def stay(self, orders: Orders, seconds: float) -> str:
        """Apply until the time is over, or until nothing is left; returns why it ended.

        Raises:
            StaleState: `run.cancelled`, somebody ended it.
        """
        self._adopt(orders, is_staying=seconds > 0)
        ends = time.monotonic() + seconds
        while not seconds or time.monotonic() < ends:
            self.job.check_jvm()
            self._hear(is_staying=seconds > 0)
            if not self._tend() and not seconds:
                return _DONE
            self._tell()
            time.sleep(_PAUSE_SECONDS)
        return _STAYED

    def stop(self) -> None:
        """End all pipelines after the batches that they are at, and say how far they are."""
        for pipeline in self._pipelines.values():
            pipeline.stop()
            pipeline.report()

    def _hear(self, *, is_staying: bool) -> None:
        """Read the control file; newer orders take the place of the old ones."""
        try:
            control = self.job.control()
        except ExternalFailure as error:
            self._n_silent += 1
            if self._n_silent > _MOST_SILENT:
                raise
            self.job.log(f"{error.code}: {error.message}")
            return
        self._n_silent = 0
        self.job.check_control()
        said = control.get(ORDERS)
        if said is None or said == self._orders:
            return
        self._orders = said
        try:
            self._adopt(read_orders(said), is_staying=is_staying)
        except PortalError as error:
            # The old orders hold; the portal sees that its new ones change nothing.
            self.job.log(f"{error.code}: {error.message}")

    def _adopt(self, orders: Orders, *, is_staying: bool) -> None:
        wanted = {one.id: one for one in orders.pipelines}
        for gone in self._pipelines.keys() - wanted.keys():
            self._pipelines.pop(gone).stop()
        for number, order in wanted.items():
            known = self._pipelines.get(number)
            if known is not None:
                known.adopt(order, orders)
                continue
            places = Places.of(self.job.spark, self.job.config, order)
            self._pipelines[number] = PipelineRun(
                order, orders, places, self.pool, self._write, is_staying
            )

    def _tend(self) -> bool:
        """Tend each pipeline; returns whether anything is left to do."""
        is_left = False
        for pipeline in self._pipelines.values():
            if pipeline.tend():
                pipeline.report()
            is_left |= not (pipeline.is_finished or pipeline.order.is_paused)
        return is_left

    def _write(self, name: str, report: Any) -> None:
        """Write a report where it changed."""
        data = msgspec.json.encode(report)
        if self._written.get(name) != data:
            path = self.job.spool.results.child(*name.split("/"))
            self.job.spool.fs.replace(path, data)
            self._written[name] = data

    def _tell(self) -> None:
        if time.monotonic() - self._told_at >= _TELL_SECONDS:
            tables = [one for each in self._pipelines.values() for one in each.tables]
            changelogs = count_words(len(self._pipelines), "changelog")
            self.job.progress("apply", 0, 0, f"{changelogs}, {count_words(len(tables), 'table')}.")
            self._told_at = time.monotonic()
