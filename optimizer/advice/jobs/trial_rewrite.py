"""Writes a trial's sample of partitions again in the advised layout; nothing is committed here."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from optimizer.advice.domain.trials.sample import Candidate, Picked, pick_partitions, spread
from optimizer.core.domain.tasks import TaskKind
from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.iceberg.cubing.jobs.table_files import TableFile, live_rows, table_files
from optimizer.iceberg.rewrite.domain.boundaries import Boundaries
from optimizer.iceberg.rewrite.domain.layouts import Layout, LayoutKind, refuse_columns
from optimizer.iceberg.rewrite.jobs.bin_packing import BinPacking, pick
from optimizer.iceberg.rewrite.jobs.boundary_sample import take_sample
from optimizer.iceberg.rewrite.jobs.planning import Plan, PlannedPartition, TaskColumns, plan_files
from optimizer.iceberg.rewrite.jobs.rewrite_group import Staged, Wanted, stage_group
from optimizer.iceberg.rewrite.jobs.row_ordering import Arrangement
from optimizer.iceberg.rewrite.jobs.staging import StagingArea
from portal.lake.names import quoted
from portal.spark.job import JobContext


@dataclass(frozen=True)
class SampledPartition:
    """A partition of the trial: its chosen files by location, with their bytes."""

    picked: Picked
    planned: PlannedPartition
    sizes: dict[str, int]


@dataclass(frozen=True)
class TrialSample:
    """What a trial is about: some partitions at the base snapshot."""

    plan: Plan
    partitions: list[SampledPartition]
    n_partitions: int
    n_bytes: int

    @property
    def locations(self) -> set[str]:
        """The data files that are written again."""
        return {path for one in self.partitions for path in one.sizes}

    def files(self) -> list[TableFile]:
        """Return its data files as rows are read from them."""
        wanted = self.locations
        return [one for one in table_files(self.plan.table) if one.covered.location in wanted]


@dataclass(frozen=True)
class WrittenPartition:
    """What a partition became: the new files by location with their bytes."""

    staged: list[Staged]
    sizes: dict[str, int]
    seconds: float


def take_trial_sample(table: IcebergTable, *, most_bytes: int) -> TrialSample:
    """Choose the partitions of a trial from main's files as they are now."""
    plan = plan_files(table)
    by_name = {f"{one.spec_id}/{one.partition}": one for one in plan.partitions}
    candidates = [
        Candidate(
            name,
            sum(file.n_bytes for file in one.files),
            len(one.files),
            max((file.sequence for file in one.files), default=0),
        )
        for name, one in by_name.items()
    ]
    chosen = pick_partitions(candidates, most_bytes=most_bytes)
    return TrialSample(
        plan,
        [_sampled(table, by_name[one.name], one) for one in chosen],
        len(candidates),
        sum(one.n_bytes for one in candidates),
    )


def arrange_for(sample: TrialSample, layout: Layout, *, target_bytes: int) -> Arrangement:
    """Return the order of the sample's rows; its boundaries come from these rows alone.

    Raises:
        RuleViolation: `layout.missing`, `layout.type`: the table's columns changed meanwhile.
    """
    table = sample.plan.table
    schema = table.spark.table(table.sql).schema
    refuse_columns(layout, {one.name: one.dataType.simpleString() for one in schema})
    if layout.kind is LayoutKind.SORT or len(layout.columns) == 1:
        return Arrangement(layout, Boundaries(()))
    files = [file for one in sample.partitions for file in one.planned.files]
    n_rows = sum(one.n_rows for one in files)
    n_files = max(1, sum(one.n_bytes for one in files) // max(1, target_bytes))
    with live_rows(table, sample.files(), {name: quoted(name) for name in layout.columns}) as rows:
        taken = take_sample(rows, layout.columns, n_rows=n_rows, n_files=n_files)
    return Arrangement(layout, taken.boundaries(), taken, n_rows)


def write_partition(
    sample: TrialSample,
    one: SampledPartition,
    *,
    sizes: tuple[int, int],
    arrange: Arrangement,
    area: StagingArea,
    job: JobContext,
) -> WrittenPartition:
    """Write one partition's files again; `sizes` are the bytes of a file and of a group at most.

    Raises:
        StaleState: `run.cancelled`. PortalError: as `stage_group`.
    """
    started = time.monotonic()
    target_bytes, group_bytes = sizes
    table = sample.plan.table
    picking = BinPacking(TaskKind.FULL, target_bytes, group_bytes, has_layout=True)
    wanted = Wanted(target_bytes, table.spec_for_new(one.planned.spec_id), arrange=arrange)
    staged = []
    for group in pick(one.planned.files, picking):
        job.check_control()
        staged.append(stage_group(sample.plan, one.planned, group, wanted=wanted, area=area))
    found = _sizes(table, [each.new for each in staged])
    return WrittenPartition(staged, found, time.monotonic() - started)


def _sampled(table: IcebergTable, planned: PlannedPartition, picked: Picked) -> SampledPartition:
    files = planned.files
    if picked.share < 1:
        files = [files[n] for n in spread(len(files), share=picked.share)]
    steps = TaskColumns(table.columns)
    locations = table.columns.read(planned.tasks, steps.file, steps.location)
    taken = {locations[file.n]: file.n_bytes for file in files}
    return SampledPartition(picked, replace(planned, files=files), taken)


def _sizes(table: IcebergTable, sets: Sequence[Any]) -> dict[str, int]:
    """Return the new files of Java sets by location, with their bytes."""
    steps, found = TaskColumns(table.columns), dict[str, int]()
    for one in sets:
        files = table.jvm.java.util.ArrayList(one)
        if files.size():
            locations = table.columns.read(files, steps.location)
            found |= dict(zip(locations, table.columns.numbers(files, steps.length), strict=True))
    return found
