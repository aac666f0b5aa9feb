"""Reads the files of a table's partitions as of its last inspection."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import django_filters as filters
from django.db.models import F, QuerySet, Sum

from optimizer.core.domain.bands import HealthBand
from optimizer.core.selectors.tables import IN_BAND, band_choices
from optimizer.models import IcebergTable, LayoutWrite, PartitionHealth
from portal.ui.lists.filters import ListFilter, prefix

HEALTH_ORDERS = {
    "health": ("health",),
    "-health": ("-health",),
    "-files": ("-n_files",),
    "-small": ("-n_small",),
    "-bytes": ("-n_bytes",),
}
FILE_ORDERS = {key: HEALTH_ORDERS[key] for key in ("-small", "-files", "-bytes")}
LAYOUT_ORDERS = {"-open": ("-n_open",), "-files": ("-n_files",), "-bytes": ("-n_bytes",)}
# A picture of more is read by nobody, and adding up more keeps people waiting.
DRAWN_AT_MOST = 400
ADDED_UP_AT_MOST = 10_000
LAYOUTS_SHOWN = 10


class PartitionFilter(ListFilter):
    """Partitions by the beginning of their name, and by health."""

    partition = prefix("partition", "Partition")
    band = filters.ChoiceFilter(
        choices=band_choices, label="Health", empty_label="Any", method="filter_band"
    )

    class Meta:
        model = PartitionHealth
        fields: list[str] = []

    def filter_band(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Keep one band of health."""
        return rows.filter(IN_BAND[HealthBand(value)])


@dataclass(frozen=True)
class FileSizes:
    """How many files are of which size, and over how many of the table's partitions."""

    counts: Sequence[int]
    n_added_up: int
    is_whole: bool


@dataclass(frozen=True)
class Coverage:
    """How much of a table lies as its policy asks."""

    n_files: int
    n_laid_out: int
    n_bytes: int
    laid_out_bytes: int

    @property
    def share(self) -> float:
        """The share of the bytes that lies as asked, from 0 to 1."""
        return self.laid_out_bytes / self.n_bytes if self.n_bytes else 0.0


def partitions_of(table: IcebergTable) -> QuerySet[PartitionHealth]:
    """Return the partitions as the last look found them, unordered; none before the first look."""
    rows = table.partitions.annotate(n_open=F("n_files") - F("n_laid_out"))
    if table.looked_snapshot_id is None:
        return rows.none()
    return rows.filter(snapshot_id=table.looked_snapshot_id)


def worst_of(table: IcebergTable) -> list[PartitionHealth]:
    """Return the worst partitions, as many as a picture can show."""
    return list(partitions_of(table).order_by("health", "pk")[:DRAWN_AT_MOST])


def least_laid_out(table: IcebergTable) -> list[PartitionHealth]:
    """Return the partitions with the most files that do not lie as asked."""
    return list(partitions_of(table).order_by(*LAYOUT_ORDERS["-open"], "pk")[:DRAWN_AT_MOST])


def file_sizes(table: IcebergTable) -> FileSizes:
    """Add up the files by size over the partitions, those with the most files first."""
    rows = partitions_of(table).order_by("-n_files", "pk").values_list("sizes", flat=True)
    found = list(rows[: ADDED_UP_AT_MOST + 1])
    taken = found[:ADDED_UP_AT_MOST]
    width = max((len(counts) for counts in taken), default=0)
    counts = [sum(c[place] for c in taken if place < len(c)) for place in range(width)]
    return FileSizes(counts, len(taken), len(found) <= ADDED_UP_AT_MOST)


def coverage_of(table: IcebergTable) -> Coverage:
    """Add up what lies as asked."""
    names = ("n_files", "n_laid_out", "n_bytes", "laid_out_bytes")
    found = partitions_of(table).aggregate(**{name: Sum(name) for name in names})
    return Coverage(**{name: found[name] or 0 for name in names})


def layouts_of(table: IcebergTable) -> list[LayoutWrite]:
    """Return the newest writes of ours with how their files lie."""
    return list(table.layouts.order_by("-at", "-pk")[:LAYOUTS_SHOWN])
