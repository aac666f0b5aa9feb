"""The program that compares tables of a pipeline with their source, one after another."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import msgspec
from pyspark.sql import SparkSession

from pipelines.cdc.applying.domain.folders import Kept, folder_of
from pipelines.cdc.applying.jobs.kept import KeptFiles
from pipelines.cdc.applying.jobs.target import Target, check_hudi, java_text, read_old_dates
from pipelines.cdc.capture.connectors.chunks import Chunks
from pipelines.cdc.capture.connectors.source import Source
from pipelines.cdc.capture.domain.config import SourceConfig
from pipelines.cdc.changes.domain.positions import Position
from pipelines.cdc.reconciling.domain.keys import key_row
from pipelines.cdc.reconciling.domain.messages import (
    PASSWORD,
    Proof,
    Request,
    State,
    Task,
    compared_columns,
    read_request,
)
from pipelines.cdc.reconciling.domain.verdicts import Pair, Verdict
from pipelines.cdc.reconciling.engine.rounds import Outcome, compare
from pipelines.cdc.reconciling.jobs.changelogs import changelog_end
from pipelines.cdc.reconciling.jobs.comparison import Comparison
from pipelines.cdc.reconciling.jobs.lake_progress import LakeProgress
from pipelines.cdc.reconciling.jobs.source_rows import SourceRows
from portal.connectors.filesystem import open_file_system
from portal.lake.errors import PortalError, StaleState
from portal.spark.java_errors import JAVA_ERRORS
from portal.spark.job import CANCELLED, JobContext

REQUEST = "reconcile"


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Compare the tables of a request; returns how many there were by what they came to."""
    check_hudi(spark, lake=str(job.config.lake))
    read_old_dates(spark)
    request = read_request(job.params[REQUEST])
    job.spool.fs.make_directories(job.spool.results.child("proofs"), mode=0o700)
    states: dict[str, int] = {}
    for n, task in enumerate(request.tasks):
        job.check_control()
        job.progress("compare", n, len(request.tasks), task.order.name)
        proof = _proved(spark, job, request, task)
        states[proof.state] = states.get(proof.state, 0) + 1
        path = job.spool.results.child("proofs", f"{proof.id}.json")
        job.spool.fs.replace(path, msgspec.json.encode(proof))
    return {"states": states}


def _proved(spark: SparkSession, job: JobContext, request: Request, task: Task) -> Proof:
    """Compare one table; what goes wrong with it keeps no other from its turn."""
    if task.reason:
        return Proof(task.order.id, "skipped", task.reason)
    began = time.monotonic()
    try:
        proof = prove(spark, job, request, task)
    except PortalError as error:
        if error.code == CANCELLED:
            raise
        job.log(f"{task.order.name}: {error.code}: {error.message}")
        state: State = "skipped" if isinstance(error, StaleState) else "failed"
        proof = Proof(task.order.id, state, error.message)
    except JAVA_ERRORS as error:
        job.log(f"{task.order.name}: {java_text(error)}")
        proof = Proof(task.order.id, "failed", f"Spark could not compare it: {java_text(error)}.")
    return msgspec.structs.replace(proof, seconds=round(time.monotonic() - began, 1))


def prove(spark: SparkSession, job: JobContext, request: Request, task: Task) -> Proof:
    """Compare one table.

    Raises:
        StaleState: `cdc.reconcile_schema`, `_late`, `_loading`: it cannot be compared now.
        ExternalFailure: what the source says.
    """
    config, order = _config(request), task.order
    plan = order.plan(task.schema.number)
    if plan is None:
        raise StaleState("cdc.reconcile_schema", f"{order.name} waits for a decision.")
    target = Target(spark, order, job.config.metastore_uri)
    if target.is_there and set(target.columns()) != set(order.columns):
        raise StaleState("cdc.reconcile_schema", f"{order.name} gets other columns just now.")
    root = job.config.path(request.folder)
    fs = open_file_system(root, config=job.config, acls=False)
    tombstones = KeptFiles(spark, fs, root.child(*folder_of(order.name, Kept.TOMBSTONES)))
    columns = compared_columns(order, plan)
    with closing(Source(config)) as source, closing(Chunks(config, source)) as chunks:
        place = job.spool.results.child("rows", str(order.id))
        rows = SourceRows(
            *(config, source, chunks, task.schema, job.spool.fs, place, request.rows_per_second)
        )
        log_end = changelog_end(request, fs, job.config.path(request.changelog))
        progress = LakeProgress(log_end, fs, root, order, request.first_batch, job.check_control)
        sides = _Sides(
            rows, Comparison(target, plan, columns, tombstones), progress, request.wait_seconds
        )
        try:
            outcome = compare(sides, most_rounds=request.most_rounds)
            return sides.proof(outcome)
        finally:
            sides.close()


@dataclass
class _Sides:
    """A table at its source and in the lake, as the rounds want it."""

    rows: SourceRows
    comparison: Comparison
    progress: LakeProgress
    wait_seconds: float
    position: Position | None = None
    n_rows: int = 0
    _is_whole: bool = True

    def read(self, keys: Sequence[str] | None) -> None:
        """Read rows of the source: all, or those of some keys."""
        self._is_whole = keys is None
        if keys is None:
            self.rows.read_all()
            self.n_rows = self.rows.n_rows
        else:
            self.rows.read_keys([key_row(one, self.rows.schema) for one in keys])

    def wait(self) -> None:
        """Wait until the lake has everything that the source had by now."""
        there = self.rows.position()
        self.position = self.position or there
        self.progress.wait(there, seconds=self.wait_seconds)

    def differing(self) -> Iterator[Pair]:
        """Read the lake, then yield the keys that are not the same on both sides."""
        self.comparison.release()
        if self._is_whole:
            return self.comparison.all_rows(
                self.rows.files, n_rows=self.n_rows, first_version=self.rows.first_version
            )
        return self.comparison.some_rows(self.rows.files)

    def end(self) -> int:
        """Return the version of where the source's log ends now."""
        return self.rows.position().version

    def close(self) -> None:
        """Remove what was written and cached."""
        self.comparison.release()
        self.rows.remove()

    def proof(self, outcome: Outcome) -> Proof:
        """Return what the rounds came to."""
        order, compared = self.comparison.target.order, set(self.comparison.columns)
        counts = outcome.counts
        keys = tuple((kind.value, key_row(one, self.rows.schema)) for kind, one in outcome.keys)
        return Proof(
            id=order.id,
            state="different" if outcome.n_differences else "equal",
            position=str(self.position or ""),
            n_rows=self.n_rows,
            n_lake=self.comparison.n_lake,
            n_ranges=self.comparison.n_ranges,
            n_ranges_differing=self.comparison.n_ranges_differing,
            n_rounds=outcome.n_rounds,
            n_missing=counts[Verdict.MISSING],
            n_extra=counts[Verdict.EXTRA],
            n_different=counts[Verdict.DIFFERENT],
            n_unfit=counts[Verdict.UNFIT],
            n_changing=counts[Verdict.CHANGED],
            columns_left_out=tuple(one.name for one in order.columns if one.name not in compared),
            keys=keys,
        )


def _config(request: Request) -> SourceConfig:
    said = request.server
    return SourceConfig(
        name=said.name,
        host=said.host,
        port=said.port,
        user=said.user,
        password=os.environ.get(PASSWORD, ""),
        server_id=said.server_id,
        tables=said.tables,
        ssl_ca=said.ssl_ca,
        epoch=said.epoch,
    )
