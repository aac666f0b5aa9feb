"""Pictures of the home page: what is due when, which tables are large, and how much is due."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import date, timedelta

from django.http import HttpRequest

from lifecycle.core.ui.links import list_url
from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.inventory.selectors.due_days import due_by_day
from lifecycle.inventory.selectors.findings import current_generation, trend
from lifecycle.inventory.selectors.sizes import sizes_of
from lifecycle.inventory.ui.charts import days_chart
from portal.access.roles.domain import STAFF
from portal.ui.charts.figures import Axes, Chart, bar_chart
from portal.ui.charts.treemap import Leaf, treemap_chart
from portal.ui.frame.context import current_lake, person
from portal.ui.home_pictures import Picture, register_picture
from portal.ui.tables.addresses import tables_url
from portal.ui.templatetags.lw import human_bytes

N_WEEKS = 12
THE_REST = "All other tables"
_COLOURS = {
    ExpiryClass.CLEAN_NOW: "Due",
    ExpiryClass.SOON: "Due soon",
    ExpiryClass.STILL_READ: "Recently read",
    ExpiryClass.HELD: "Kept",
    ExpiryClass.KEEP_FOREVER: "Kept",
    ExpiryClass.NOT_NOW: "Not due",
}
_OTHER = "Other"
_CLASSES = {"CLEAN_NOW": "due", "SOON": "due soon", "STILL_READ": "recently read"}


def register_pictures() -> None:
    """Add the pictures."""
    register_picture(Picture("due-by-week", "Data due, by week", 10, due_by_week, _expiring))
    register_picture(
        Picture("tables-by-size", "Largest tables by class", 15, tables_by_size, _by_size)
    )
    register_picture(
        Picture("classes", "Expiring data over time", 20, classes_by_day, _expiring, roles=STAFF)
    )


def due_by_week(request: HttpRequest) -> Chart | None:
    """Draw how much of the person's is due in each week, as the last scan counted it.

    Items and not bytes: a scan does not measure what is due later.
    """
    lake = current_lake(request)
    generation = current_generation(lake)
    if generation is None:
        return None
    monday = generation.day - timedelta(days=generation.day.weekday())
    end = monday + timedelta(weeks=N_WEEKS)
    due = due_by_day(lake, person(request), until=end - timedelta(days=1))
    overdue, weeks = 0, [0] * N_WEEKS
    for day, (n_items, _) in due.items():
        if day == generation.day:
            overdue += n_items
        else:
            weeks[(day - monday).days // 7] += n_items
    if not due:
        return None
    return bar_chart(
        "due-by-week",
        title="Partitions and tables by the week in which they are due",
        labels=["due now", *(_week(monday + timedelta(weeks=n)) for n in range(N_WEEKS))],
        series={"items": [overdue, *weeks]},
        axes=Axes("Week from", "Partitions and tables"),
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
        "classes",
        title="Bytes by class and day of the scan",
        series=series,
        axes=Axes("Day of the scan", "Size", "bytes"),
    )


def tables_by_size(request: HttpRequest) -> Chart | None:
    """Draw the largest tables by database, size and class, and all others as one area."""
    sizes = sizes_of(current_lake(request), person(request))
    if sizes is None:
        return None
    groups: defaultdict[str, list[Leaf]] = defaultdict(list)
    for one in sizes.tables:
        groups[one.db].append(Leaf(one.table, _coloured(one.bytes)))
    if sizes.others:
        groups[THE_REST].append(Leaf("", _coloured(sizes.others)))
    return treemap_chart(
        "tables-by-size",
        title="Measured size of the largest tables, by database and class",
        groups=groups,
        classes=tuple(dict.fromkeys([*_COLOURS.values(), _OTHER])),
        head="Table",
        spell=human_bytes,
    )


def _coloured(sizes: Mapping[str, int]) -> dict[str, int]:
    found: defaultdict[str, int] = defaultdict(int)
    for cls, size in sizes.items():
        found[_COLOURS.get(ExpiryClass(cls), _OTHER)] += size
    return found


def _by_size(request: HttpRequest) -> str:
    return tables_url(current_lake(request), cols="size,partitions,due,owner")


def _week(monday: date) -> str:
    return f"{monday:%b} {monday.day}"


def _expiring(request: HttpRequest) -> str:
    return list_url("expiring", current_lake(request))
