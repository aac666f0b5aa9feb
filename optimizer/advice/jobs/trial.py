"""The program `trial`: tries one layout on a branch of a table, and takes all of it away again.

The branch is pinned at main's snapshot, so neither later commits nor an expiry disturb it. What
queries would read before is planned at once, then the sample is written again, committed to the
branch alone, and the same queries are planned there. Main is never written. Whatever happens, the
branch and its files go at the end; after a death `trial_cleanup` does it.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from optimizer.advice.domain.drawn import DRAWN, RecordedScans, drawn_by_shape
from optimizer.advice.domain.filters import read_filters
from optimizer.advice.domain.paired import Replayed
from optimizer.advice.domain.trials.result import ReplayedShape, shape_row, trial_verdict
from optimizer.advice.domain.what_if import Asking
from optimizer.advice.jobs.layout import named_filters, sampled, wanted_columns
from optimizer.advice.jobs.trial_branch import TrialBranch
from optimizer.advice.jobs.trial_replay import Replay
from optimizer.advice.jobs.trial_rewrite import (
    TrialSample,
    WrittenPartition,
    arrange_for,
    take_trial_sample,
    write_partition,
)
from optimizer.core.jobs.file_readers import check_owner_reads
from optimizer.iceberg.access.jobs.history import Signature
from optimizer.iceberg.access.jobs.iceberg import IcebergTable, open_table, use_iceberg
from optimizer.iceberg.rewrite.domain.layouts import Layout, parse_layout
from optimizer.iceberg.rewrite.jobs.boundary_sample import use_arrow
from optimizer.iceberg.rewrite.jobs.partition_filter import filter_of
from optimizer.iceberg.rewrite.jobs.replace import discard, replace
from optimizer.iceberg.tables.domain.branches import trial_branch
from portal.lake.errors import PortalError
from portal.safety.failpoints import Failpoints
from portal.spark.job import CANCELLED, JobContext

_TOLD_EVERY = 25
NO_TASK = 0
"""What the commit of a trial bears in place of a task's id."""


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Try the layout of the request; says what was found, and whether all is gone again."""
    use_iceberg(spark, job.config)
    use_arrow(spark)
    started = time.monotonic()
    row = job.params
    table = open_table(spark, row["db"], row["table"], uuid=row["uuid"])
    check_owner_reads(spark, table.location, table.name, below="metadata")
    name = trial_branch(row["advice"], job.run)
    fail = Failpoints.from_environment()
    branch = TrialBranch(table, name, job.run, job.config.deployment_id, fail)
    said: dict[str, Any] = {"trial": row["trial"], "branch": name}
    try:
        said |= Trial(job, table, branch).tried()
    except PortalError as error:
        if error.code == CANCELLED:
            raise
        job.log(f"{table.name}: {error.code}: {error.message}")
        said |= {"code": error.code, "problem": error.message}
    finally:
        said |= _cleaned(job, branch)
    return {**said, "seconds": round(time.monotonic() - started, 3)}


@dataclass(frozen=True)
class Trial:
    """One trial under way."""

    job: JobContext
    table: IcebergTable
    branch: TrialBranch

    def tried(self) -> dict[str, Any]:
        """Write the sample, replay the queries on both sides, and judge.

        Raises:
            StaleState: `run.cancelled`. PortalError: it cannot be written or planned.
        """
        row, base = self.job.params, self.table.snapshot_id
        layout = parse_layout(row["layout"])
        self.job.progress("sample", 0, 1, self.table.name)
        sample = take_trial_sample(self.table, most_bytes=row["most_bytes"])
        if not sample.partitions:
            return {"problem": "The table is empty."}
        self.branch.make(base)
        recorded, queries, replay = self._queries(sample)
        sizes = {path: n for one in sample.partitions for path, n in one.sizes.items()}
        before = self._replayed("before", replay, queries, sizes, base=base)
        written = self._written(sample, layout)
        new = {path: n for one in written for path, n in one.sizes.items()}
        on_branch = Replay(self.table.again(), replay.within, replay.forms)
        after = self._replayed("after", on_branch, queries, new, branch=self.branch.name)
        shapes = [
            ReplayedShape(
                one.filters,
                one.n_scans,
                tuple(
                    Replayed(_sum(old, sizes), _sum(later, new), asking.weight)
                    for asking, old, later in zip(*of_shape, strict=True)
                ),
            )
            for one, *of_shape in zip(recorded, queries, before, after, strict=True)
        ]
        return {
            "base": base,
            "n_partitions": sample.n_partitions,
            "n_bytes": sample.n_bytes,
            "most_bytes": row["most_bytes"],
            "bytes_written": sum(new.values()),
            "partitions": _partition_rows(sample, written, before, after),
            "shapes": [shape_row(one) for one in shapes],
            "verdict": trial_verdict(shapes, least_saved=row["least_saved"]),
        }

    def _queries(
        self, sample: TrialSample
    ) -> tuple[list[RecordedScans], list[list[Asking]], Replay]:
        """Draw queries for the recorded shapes from the sample's rows, so many at most."""
        row = self.job.params
        # A query counts as often as it came: its bytes are planned, not estimated.
        recorded = [
            RecordedScans(read_filters(one["filters"]), one["n_scans"], 0)
            for one in row["shapes"][: row["most_queries"]]
        ]
        columns, *_ = sampled(self.table, sample.files(), wanted_columns(recorded))
        recorded = named_filters(recorded, columns)
        drawn = max(1, min(DRAWN, row["most_queries"] // max(1, len(recorded))))
        queries = drawn_by_shape(columns, recorded, drawn=drawn)
        within = filter_of(self.table, [one.planned for one in sample.partitions])
        return (
            recorded,
            queries,
            Replay(self.table, within, {n: f for n, (f, _) in columns.items()}),
        )

    def _written(self, sample: TrialSample, layout: Layout) -> list[WrittenPartition]:
        """Write the sample, and commit it to the branch in one commit."""
        row, area, fail = self.job.params, self.branch.area, self.branch.fail
        target, group = int(row["target_bytes"]), int(row["max_group_bytes"])
        arrange = arrange_for(sample, layout, target_bytes=target)
        written: list[WrittenPartition] = []
        try:
            for n, one in enumerate(sample.partitions):
                name = one.planned.partition or self.table.name
                self.job.progress("rewrite", n, len(sample.partitions), name)
                with fail.step("write"):
                    written.append(
                        write_partition(
                            sample,
                            one,
                            sizes=(target, group),
                            arrange=arrange,
                            area=area,
                            job=self.job,
                        )
                    )
            self.job.check_control()
        except BaseException:
            discard([each for one in written for each in one.staged], area)
            raise
        staged = [each for one in written for each in one.staged]
        signature = Signature(NO_TASK, self.job.run, str(layout))
        with fail.step("commit"):
            replace(sample.plan, staged, signature=signature, area=area, branch=self.branch.name)
        return written

    def _replayed(
        self,
        phase: str,
        replay: Replay,
        queries: Sequence[Sequence[Asking]],
        sizes: Mapping[str, int],
        **at: Any,
    ) -> list[list[list[str]]]:
        """Plan every query; returns the files of the sample that each would read."""
        total, found, done = sum(map(len, queries)), list[list[list[str]]](), 0
        for of_shape in queries:
            planned = []
            for one in of_shape:
                self.job.check_control()
                if done % _TOLD_EVERY == 0:
                    self.job.progress(phase, done, total)
                planned.append(replay.planned(one, sizes, **at))
                done += 1
            found.append(planned)
        self.job.progress(phase, done, total)
        return found


def _sum(files: Sequence[str], sizes: Mapping[str, int]) -> int:
    return sum(sizes[one] for one in files)


def _partition_rows(
    sample: TrialSample,
    written: Sequence[WrittenPartition],
    before: Sequence[Sequence[Sequence[str]]],
    after: Sequence[Sequence[Sequence[str]]],
) -> list[dict[str, Any]]:
    """Return of each partition its files, and what all queries together planned of them."""
    rows = []
    for one, new in zip(sample.partitions, written, strict=True):
        rows.append(
            {
                "partition": one.planned.partition,
                "reason": one.picked.reason,
                "share": round(one.picked.share, 4),
                "n_rows": sum(file.n_rows for file in one.planned.files),
                "n_files": len(one.sizes),
                "n_bytes": sum(one.sizes.values()),
                "n_files_after": len(new.sizes),
                "n_bytes_after": sum(new.sizes.values()),
                "planned": _all_planned(before, one.sizes),
                "planned_after": _all_planned(after, new.sizes),
                "seconds": round(new.seconds, 3),
            }
        )
    return rows


def _all_planned(found: Sequence[Sequence[Sequence[str]]], sizes: Mapping[str, int]) -> int:
    return sum(sizes.get(path, 0) for of_shape in found for files in of_shape for path in files)


def _cleaned(job: JobContext, branch: TrialBranch) -> dict[str, Any]:
    """Take everything away; under the emergency stop, and where it fails, a later run does."""
    stopped = job.control(fresh=True).get("reason")
    if stopped:
        return {"is_cleaned": False, "cleanup": f"The emergency stop is on: {stopped}"}
    job.progress("clean", 0, 1, branch.name)
    try:
        notes = branch.remove()
    except PortalError as error:
        job.log(f"{branch.table.name}: {error.code}: {error.message}")
        return {"is_cleaned": False, "cleanup": error.message}
    return {"is_cleaned": True, "cleanup": " ".join(notes)}
