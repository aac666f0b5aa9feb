"""Picture of the home page: the runs of the last 24 hours, hour by hour."""

from collections import Counter
from datetime import timedelta

from django.db.models import Count
from django.db.models.functions import TruncHour
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from portal.access.roles.domain import STAFF
from portal.runs.domain import RunState
from portal.ui.charts.figures import Axes, Chart, bar_chart
from portal.ui.frame.context import current_lake, person
from portal.ui.home_pictures import Picture, register_picture
from portal.ui.selectors import runs_for_user

N_HOURS = 24
_SHOWN = {RunState.DONE: "done", RunState.FAILED: "failed", RunState.CANCELLED: "cancelled"}


def register_run_pictures() -> None:
    """Add the picture."""
    register_picture(
        Picture(
            "runs-by-hour", "Jobs of the last 24 hours", 90, runs_by_hour, _runs_url, roles=STAFF
        )
    )


def runs_by_hour(request: HttpRequest) -> Chart | None:
    """Draw how many runs were requested in each hour, by what became of them."""
    newest = timezone.localtime().replace(minute=0, second=0, microsecond=0)
    hours = [newest - timedelta(hours=back) for back in reversed(range(N_HOURS))]
    runs = runs_for_user(person(request), current_lake(request)).filter(queued_at__gte=hours[0])
    counted = runs.order_by().annotate(hour=TruncHour("queued_at")).values_list("hour", "state")
    counts: dict[str, Counter[object]] = {word: Counter() for word in (*_SHOWN.values(), "open")}
    for hour, state, n_runs in counted.annotate(n=Count("pk")):
        counts[_SHOWN.get(RunState(state), "open")][hour] += n_runs
    if not any(found.total() for found in counts.values()):
        return None
    return bar_chart(
        "runs-by-hour",
        title="Jobs by the hour they were requested in",
        labels=[hour.strftime("%H:00") for hour in hours],
        series={word: [found[hour] for hour in hours] for word, found in counts.items() if found},
        axes=Axes("Hour", "Jobs"),
    )


def _runs_url(request: HttpRequest) -> str:
    return reverse("ui:runs")
