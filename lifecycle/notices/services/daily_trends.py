"""Reads the lake's counts of files, partitions, tables and paths, now and over the days."""

from datetime import date

from lifecycle.core.services.report_mail import Trend
from lifecycle.inventory.selectors.findings import trend
from lifecycle.models import ScanSnapshot
from portal.ui.templatetags.lw import human_bytes

DAYS_SHOWN = 30
COUNTS = {
    "n_files": "Files",
    "n_partitions": "Partitions",
    "n_tables": "Tables",
    "n_databases": "Databases",
    "paths.nonconforming": "Path rule violations",
}
SIZES = {"class.CLEAN_NOW.bytes": "Due", "class.SOON.bytes": "Due soon"}


def lake_trends(generation: ScanSnapshot) -> list[Trend]:
    """Return each number with its last days; one that was never counted is left out."""
    points = trend(generation.lake, [*COUNTS, *SIZES], today=generation.day)
    return [
        _trend(title, points[metric][-DAYS_SHOWN:], is_size=metric in SIZES)
        for metric, title in (COUNTS | SIZES).items()
        if points[metric]
    ]


def _trend(title: str, points: list[tuple[date, int]], *, is_size: bool) -> Trend:
    newest = points[-1][1]
    change = ""
    if len(points) > 1:
        (day, before) = points[-2]
        moved = newest - before
        words = human_bytes(abs(moved)) if is_size else f"{abs(moved):,}"
        sign = "+" if moved > 0 else "-"
        change = f"{sign}{words} since {day}" if moved else f"as on {day}"
    return Trend(title, points, human_bytes(newest) if is_size else f"{newest:,}", change)
