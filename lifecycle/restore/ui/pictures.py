"""Picture of the home page: which backups are purged when."""

from datetime import timedelta

from django.db.models import Sum
from django.db.models.functions import TruncDate
from django.http import HttpRequest
from django.utils import timezone

from lifecycle.backup.selectors import RESTORABLE
from lifecycle.core.ui.links import list_url
from lifecycle.restore.selectors.backups import batches_for_user
from portal.access.lakes import get_lake
from portal.lake.clock import day_of
from portal.ui.charts.figures import Axes, Chart, bar_chart
from portal.ui.frame.context import current_lake, person
from portal.ui.home_pictures import Picture, register_picture

N_DAYS = 15


def register_pictures() -> None:
    """Add the picture."""
    register_picture(Picture("purges", "Backups to be purged, by day", 30, purges_by_day, _backups))


def purges_by_day(request: HttpRequest) -> Chart | None:
    """Draw the bytes in the person's backups by the day on which they can last be restored."""
    lake = current_lake(request)
    zone = get_lake(lake).zone
    today = day_of(timezone.now(), zone)
    days = [today + timedelta(days=n) for n in range(N_DAYS + 1)]
    batches = batches_for_user(lake, person(request)).filter(state__in=RESTORABLE)
    by_day = batches.order_by().annotate(last=TruncDate("purge_after", tzinfo=zone)).values("last")
    sizes: dict[object, int] = {}
    for row in by_day.annotate(size=Sum("n_bytes")):
        # What waits for the purge since an earlier day is purged next.
        day = max(row["last"], today)
        sizes[day] = sizes.get(day, 0) + (row["size"] or 0)
    if not sizes:
        return None
    return bar_chart(
        "purges",
        title="Bytes in backups by the day of their purge",
        labels=[day.isoformat() for day in days],
        series={"bytes": [sizes.get(day, 0) for day in days]},
        axes=Axes("Day of the purge", "Size", "bytes"),
    )


def _backups(request: HttpRequest) -> str:
    return list_url("backups", current_lake(request))
