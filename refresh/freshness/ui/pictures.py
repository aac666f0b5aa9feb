"""Picture of the home page: how far each front end is behind with the tables that stand worst."""

from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest
from django.utils import timezone

from portal.access.roles.domain import STAFF
from portal.ui.charts.figures import Axes, Chart, heat_chart
from portal.ui.frame.context import current_lake, person
from portal.ui.frame.states import badge_for
from portal.ui.home_pictures import Picture, register_picture
from portal.ui.templatetags.lw import human_span
from refresh.freshness.domain.freshness import Freshness
from refresh.freshness.selectors.lag import LagCell, lag_matrix
from refresh.freshness.ui.nav import list_url

TABLES_SHOWN, FRONT_ENDS_SHOWN = 20, 12
WORST_SECONDS = 3_600
"""A lag of this length or more has the colour of the worst."""


@dataclass(frozen=True, slots=True)
class _Grid:
    """The cells of the map: 1 is up to date, 0 the worst, None not known."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]


def register_pictures() -> None:
    """Add the picture."""
    register_picture(
        Picture("front-ends", "Lag of front ends", 40, lag_by_front_end, _tables, roles=STAFF)
    )


def lag_by_front_end(request: HttpRequest) -> Chart | None:
    """Draw the worst tables by front end: how long each has been stale there."""
    found = lag_matrix(
        current_lake(request),
        person(request),
        n_tables=TABLES_SHOWN,
        n_front_ends=FRONT_ENDS_SHOWN,
    )
    if not found.tables:
        return None
    now = timezone.now()
    cells = [[found.cells.get((table, fe)) for fe in found.front_ends] for table in found.tables]
    values = tuple(tuple(_value(cell, now) for cell in row) for row in cells)
    if all(value is None for row in values for value in row):
        return None  # without any colour there is an empty frame
    return heat_chart(
        "front-ends",
        title="Lag of front ends with the tables that stand worst",
        grid=_Grid(found.tables, found.front_ends, values),
        axes=Axes("Front end", "Table"),
        between=(0, 1),
        words=[[_words(cell, now) for cell in row] for row in cells],
    )


def _value(cell: LagCell | None, now: datetime) -> float | None:
    if cell is None or cell.freshness in (Freshness.UNKNOWN, Freshness.COLD):
        return None
    if cell.freshness is Freshness.FRESH:
        return 1.0
    if cell.freshness is Freshness.DIVERGED or cell.stale_since is None:
        return 0.0
    seconds = (now - cell.stale_since).total_seconds()
    return round(0.5 * (1 - min(max(seconds / WORST_SECONDS, 0.0), 1.0)), 2)


def _words(cell: LagCell | None, now: datetime) -> str:
    if cell is None:
        return ""
    if cell.freshness is Freshness.STALE and cell.stale_since is not None:
        return human_span(max((now - cell.stale_since).total_seconds(), 0))
    return badge_for(cell.freshness.value).word


def _tables(request: HttpRequest) -> str:
    return list_url("tables", current_lake(request))
