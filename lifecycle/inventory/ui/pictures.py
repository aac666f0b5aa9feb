"""Pictures of the home page: what is due when, and how much data is in which class."""

from datetime import date, timedelta

from django.db.models import Count
from django.http import HttpRequest

from lifecycle.core.ui.links import list_url
from lifecycle.inventory.selectors.findings import current_generation, tables_visible, trend
from lifecycle.inventory.ui.charts import days_chart
from portal.access.models import STAFF
from portal.ui.charts.figures import Chart, bar_chart
from portal.ui.frame.context import current_lake, person
from portal.ui.home_pictures import Picture, register_picture

N_WEEKS = 12
_CLASSES = {"CLEAN_NOW": "due", "SOON": "due soon", "STILL_READ": "recently read"}


def register_pictures() -> None:
    """Add the pictures."""
    register_picture(
        Picture("due-by-week", "Tables with data due, by week", 10, due_by_week, _expiring)
    )
    register_picture(
        Picture("classes", "Expiring data over time", 20, classes_by_day, _expiring, roles=STAFF)
    )


def due_by_week(request: HttpRequest) -> Chart | None:
    """Draw in how many of the person's tables data is due next, week by week."""
    lake = current_lake(request)
    generation = current_generation(lake)
    if generation is None:
        return None
    monday = generation.day - timedelta(days=generation.day.weekday())
    end = monday + timedelta(weeks=N_WEEKS)
    rows = tables_visible(lake, person(request)).filter(next_due_on__lt=end).order_by()
    overdue, weeks = 0, [0] * N_WEEKS
    for day, n_tables in rows.values_list("next_due_on").annotate(n=Count("pk")):
        if day < generation.day:
            overdue += n_tables
        else:
            weeks[(day - monday).days // 7] += n_tables
    if not (overdue or any(weeks)):
        return None
    return bar_chart(
        "due-by-week",
        title="Tables by the week in which data of theirs is due next",
        labels=["overdue", *(_week(monday + timedelta(weeks=n)) for n in range(N_WEEKS))],
        series={"tables": [overdue, *weeks]},
    )


def classes_by_day(request: HttpRequest) -> Chart | None:
    """Draw the bytes that each day's last scan found due, due soon and recently read."""
    lake = current_lake(request)
    generation = current_generation(lake)
    if generation is None:
        return None
    found = trend(lake, [f"class.{cls}.bytes" for cls in _CLASSES], today=generation.day)
    series = {word: found[f"class.{cls}.bytes"] for cls, word in _CLASSES.items()}
    return days_chart(
        "classes", title="Bytes by class and day of the scan", series=series, unit="bytes"
    )


def _week(monday: date) -> str:
    return f"{monday:%b} {monday.day}"


def _expiring(request: HttpRequest) -> str:
    return list_url("expiring", current_lake(request))
