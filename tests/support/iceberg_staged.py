"""A rewrite that was written and has not been committed, and what is left of one that died."""

import os
import time
from datetime import timedelta
from pathlib import Path

from optimizer.core.domain.tasks import TaskKind
from optimizer.iceberg.rewrite.jobs.bin_packing import BinPacking, pick
from optimizer.iceberg.rewrite.jobs.planning import Plan, plan_files
from optimizer.iceberg.rewrite.jobs.rewrite_group import Staged, Wanted, stage_group
from optimizer.iceberg.rewrite.jobs.staging import StagingArea
from tests.support.iceberg_lake import WrittenTable

PICKING = BinPacking(TaskKind.FULL, 1 << 20, 1 << 26)


def staged_by_hand(
    table: WrittenTable, *, at_least: int = 1
) -> tuple[Plan, list[Staged], StagingArea]:
    """Write the new files of every group of a table; nothing is committed yet."""
    plan = plan_files(table.opened)
    area = StagingArea(plan.table, deployment="here", run="first")
    staged = [
        stage_group(plan, one, group, wanted=Wanted(1 << 20, one.spec_id), area=area)
        for one in plan.partitions
        for group in pick(one.files, PICKING)
    ]
    assert len(staged) >= at_least
    return plan, staged, area


def markers(table: WrittenTable) -> list[Path]:
    """Return the markers of a table, on the disk."""
    place = Path(table.opened.location.removeprefix("file:")) / "_lakewarden"
    return sorted(path for path in place.rglob("*") if not path.name.startswith("."))


def staging_places(table: WrittenTable) -> list[Path]:
    """Return the folders below which something of ours was ever written."""
    place = Path(table.opened.location.removeprefix("file:"))
    return [
        path for path in (place / "_lakewarden", place / "data" / "lakewarden") if path.exists()
    ]


def make_old(table: WrittenTable, by: timedelta = timedelta(days=11)) -> None:
    """Let the markers of a table look as old as those of a run that died long ago."""
    then = time.time() - by.total_seconds()
    for path in markers(table):
        os.utime(path, (then, then))


def swept(table: WrittenTable) -> int:
    """Sweep as a later run does that finds everything old enough; returns the files deleted."""
    none, n_deleted = timedelta(0), 0
    for deployment in ("here", table.lake.config.deployment_id):
        area = StagingArea(table.opened, deployment=deployment, run="later")
        for _ in range(3):
            n_deleted += area.sweep(silent=none, certain=none, kept=none)
    return n_deleted
