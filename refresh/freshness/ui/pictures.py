"""Picture of the home page: how many cached tables are fresh on each front end."""

from django.http import HttpRequest

from portal.access.models import STAFF
from portal.ui.charts.figures import Axes, Chart, bar_chart
from portal.ui.frame.context import current_lake, person
from portal.ui.home_pictures import Picture, register_picture
from refresh.freshness.domain.freshness import Freshness
from refresh.freshness.selectors.tables import tables_by_front_end
from refresh.freshness.ui.nav import list_url

FRONT_ENDS_SHOWN = 30


def register_pictures() -> None:
    """Add the picture."""
    register_picture(
        Picture("front-ends", "Cached tables by front end", 40, by_front_end, _tables, roles=STAFF)
    )


def by_front_end(request: HttpRequest) -> Chart | None:
    """Draw the tables of each front end by freshness, those with the most stale ones first."""
    found = tables_by_front_end(current_lake(request), person(request))
    if not found:
        return None
    bad = (Freshness.STALE, Freshness.DIVERGED)
    shown = sorted(found, key=lambda fe: (-sum(found[fe].get(one, 0) for one in bad), fe))
    shown = shown[:FRONT_ENDS_SHOWN]
    states = [one for one in Freshness if any(one in counts for counts in found.values())]
    return bar_chart(
        "front-ends",
        title="Tables by front end and freshness of its cache",
        labels=shown,
        series={one.lower(): [found[fe].get(one, 0) for fe in shown] for one in states},
        axes=Axes("Front end", "Tables"),
        is_across=True,
    )


def _tables(request: HttpRequest) -> str:
    return list_url("tables", current_lake(request))
