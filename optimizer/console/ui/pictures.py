"""Picture of the home page: how many tables of each format are in which health."""

from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

from optimizer.console.selectors.numbers import tables_by_health
from optimizer.core.domain.bands import HealthBand
from portal.ui.charts.figures import Axes, Chart, bar_chart
from portal.ui.frame.context import current_lake, person
from portal.ui.home_pictures import Picture, register_picture

_WORST_FIRST = (HealthBand.POOR, HealthBand.FAIR, HealthBand.GOOD, HealthBand.UNKNOWN)


def register_pictures() -> None:
    """Add the picture."""
    register_picture(Picture("file-health", "File health of tables", 50, by_health, _tables))


def by_health(request: HttpRequest) -> Chart | None:
    """Draw the person's Iceberg and Hudi tables by band of health, the worst first."""
    found = tables_by_health(current_lake(request), person(request))
    bands = [band.value for band in _WORST_FIRST]
    series = {
        table_format: [counts[band] for band in bands]
        for table_format, counts in found.items()
        if any(counts.values())
    }
    if not series:
        return None
    labels = [band.lower() for band in bands]
    return bar_chart(
        "file-health",
        title="Tables by health of their files",
        labels=labels,
        series=series,
        axes=Axes("Health, 0 to 100", "Tables"),
    )


def _tables(request: HttpRequest) -> str:
    query = urlencode({"lake": current_lake(request)})
    return f"{reverse('optimizer:tables')}?{query}"
