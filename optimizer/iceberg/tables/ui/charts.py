"""Draws charts of a table's health, files, layout and commits, with their numbers."""

from collections.abc import Sequence
from datetime import datetime

from django.utils import timezone

from optimizer.core.domain.sizes import BUCKETS, added
from optimizer.iceberg.tables.selectors.partitions import FileSizes
from optimizer.iceberg.tables.ui.partition_heatmap import grid_of
from optimizer.models import Commit, HealthPoint, PartitionHealth
from portal.ui.charts.figures import Axes, Chart, bar_chart, heat_chart, line_chart, with_marks

BARS = 20
INSPECTED = "Time of the inspection"


def heat(worst_first: Sequence[PartitionHealth]) -> list[Chart]:
    """Draw the health of partitions; a table without partitions has no map."""
    named = [(row.partition, row.health) for row in worst_first if row.partition]
    if not named:
        return []
    return [
        heat_chart(
            "health-map",
            title="Health of partitions, 0 (worst) to 100",
            grid=grid_of(named),
            axes=Axes("Day, or the further keys", "First key"),
            between=(0, 100),
        )
    ]


def trend(
    oldest_first: Sequence[HealthPoint], done: Sequence[tuple[datetime, str]] = ()
) -> list[Chart]:
    """Draw how health and the number of files went; one look is no trend.

    `done` says when tasks ended, and of which kind: they are marked.
    """
    if len(oldest_first) < 2:
        return []
    labels = [f"{timezone.localtime(point.at):%Y-%m-%d %H:%M:%S}" for point in oldest_first]
    n_files = {
        "all": [point.n_files for point in oldest_first],
        "small": [point.n_small for point in oldest_first],
        "delete files": [point.n_delete_files for point in oldest_first],
    }
    health = {"health": [round(point.health, 1) for point in oldest_first]}
    drawn = line_chart(
        "health-trend",
        title="Health over time",
        labels=labels,
        series=health,
        axes=Axes(INSPECTED, "Health, 0 to 100"),
    )
    drawn.figure["layout"]["yaxis"] |= {"range": [0, 100]}
    files = line_chart(
        "files-trend",
        title="Files over time",
        labels=labels,
        series=n_files,
        axes=Axes(INSPECTED, "Files"),
    )
    marks = {f"{timezone.localtime(at):%Y-%m-%d %H:%M:%S}": kind for at, kind in done}
    return [with_marks(chart, marks, head="Task that ended") for chart in (drawn, files)]


def sizes(found: FileSizes) -> list[Chart]:
    """Draw how many files are of which size."""
    if not any(found.counts):
        return []
    return [
        bar_chart(
            "sizes",
            title="Data files by size",
            labels=[bucket.name for bucket in BUCKETS],
            series={"files": list(added(found.counts, ()))},
            axes=Axes("Size of a file", "Files"),
        )
    ]


def coverage(least_first: Sequence[PartitionHealth]) -> list[Chart]:
    """Draw, for the partitions with most to do, which files lie as asked and which do not."""
    rows = [row for row in least_first[:BARS] if row.n_files]
    if not rows:
        return []
    rows.sort(key=lambda row: row.partition)
    return [
        bar_chart(
            "coverage",
            title="Sorted / unsorted files by partition",
            labels=[row.partition or "whole table" for row in rows],
            series={
                "sorted": [row.n_laid_out for row in rows],
                "unsorted": [row.n_files - row.n_laid_out for row in rows],
            },
            axes=Axes("Partition", "Files"),
            is_across=True,  # names of partitions are long
        )
    ]


def timeline(oldest_first: Sequence[Commit]) -> list[Chart]:
    """Draw what each commit added (up) and took away (down), ours and writers' apart."""
    if not oldest_first:
        return []
    made = bar_chart(
        "commits",
        title="Files added (up) and removed (down) by each commit",
        labels=[f"{timezone.localtime(one.at):%Y-%m-%d %H:%M:%S}" for one in oldest_first],
        series={
            "added by other writers": [0 if one.is_ours else one.n_added for one in oldest_first],
            "added by Lakewarden": [one.n_added if one.is_ours else 0 for one in oldest_first],
            "removed by other writers": [
                0 if one.is_ours else -one.n_removed for one in oldest_first
            ],
            "removed by Lakewarden": [-one.n_removed if one.is_ours else 0 for one in oldest_first],
        },
        axes=Axes("Time of the commit", "Files"),
    )
    # One place a commit: on an axis of time the bars of a busy hour would be hairs.
    made.figure["layout"]["barmode"] = "relative"
    made.figure["layout"]["xaxis"] |= {"type": "category", "nticks": 6}
    return [made]
