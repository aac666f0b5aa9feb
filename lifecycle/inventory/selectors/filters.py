"""Which tables of the list of expiring data are asked for: one set for page, API and CSV."""

from collections.abc import Collection, Mapping
from typing import Any

import django_filters as filters
from django.db.models import QuerySet

from lifecycle.core.selectors.filters import Choices, PersonFilterSet, class_choices, mode_choices
from lifecycle.inventory.selectors.dropped import GoneOf, without_emptied
from lifecycle.inventory.selectors.due import DUE_CLASSES
from lifecycle.models import TableFinding


def show_choices() -> Choices:
    """Return what the list can be narrowed to: what needs an answer, or one class."""
    return [("week", "Due or due soon"), *class_choices()]


class TableFilterSet(PersonFilterSet):
    """Filters of one lake's tables by what expires in them; `gone` is what drops took meanwhile."""

    show = filters.ChoiceFilter(
        label="Show", choices=show_choices, method="filter_show", empty_label="All tables"
    )
    table = filters.CharFilter(label="Table name has", lookup_expr="contains")
    mode = filters.ChoiceFilter(label="Mode", choices=mode_choices, field_name="mode_now")

    class Meta:
        model = TableFinding
        fields = ("show", "db", "table", "owner", "person")

    def __init__(
        self, data: Mapping[str, Any], queryset: QuerySet[Any], *, lake: str, gone: GoneOf
    ) -> None:
        super().__init__(data, queryset)
        self._lake, self._gone = lake, gone

    def filter_show(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Keep tables that hold an item of the class; `week` = due now or soon, read or not.

        What was dropped since the scan does not count.
        """
        if value == "week":
            counts = tuple(f"n_{cls.lower()}" for cls in DUE_CLASSES)
            return self._without_emptied(rows.filter(window_due_last_on__isnull=False), counts)
        name = f"n_{value.lower()}"
        kept = rows.filter(**{f"{name}__gt": 0})
        return self._without_emptied(kept, [name]) if value in DUE_CLASSES else kept

    def _without_emptied(self, rows: QuerySet[Any], counts: Collection[str]) -> QuerySet[Any]:
        return without_emptied(rows, counts, lake=self._lake, gone=self._gone)
