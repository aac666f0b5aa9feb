"""What can be done for many tables at once from their list: areas register it, none is named here.

The bar above the list is one form: the ticked tables (or all of the filter) and a reason. Each
area's buttons name their own address, which asks `chosen_tables` what was chosen.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, QueryDict
from django.utils import timezone

from portal.access.models import User
from portal.catalog.models import Table
from portal.catalog.selectors import tables_visible
from portal.lake.errors import RuleViolation
from portal.ui.tables.filters import TableFilter

FORM = "chosen-tables"
TICKED = "tables"


@dataclass(frozen=True, slots=True)
class BulkActions:
    """Buttons of an area: a template with `formaction` on each, shown where `may` names a table.

    `may` returns the keys of the tables for which the person may do any of it, by a number of
    queries that does not depend on how many tables there are.
    """

    key: str
    order: int
    template: str
    may: Callable[[str, User, Sequence[Table]], Collection[int]]


_actions: dict[str, BulkActions] = {}


def register_bulk_actions(actions: BulkActions) -> None:
    """Add buttons to the bar; registering the same key again replaces them."""
    _actions[actions.key] = actions


@dataclass(slots=True)
class Bar:
    """The bar of one page of the list: what may be done for which of its rows."""

    lake: str
    user: User
    next: str
    filter: str
    templates: Sequence[str] = ()

    def offer(self, rows: Sequence[Any]) -> None:
        """Let those rows be ticked for which the person may do something."""
        offered = sorted(_actions.values(), key=lambda one: (one.order, one.key))
        found = [(one, set(one.may(self.lake, self.user, rows))) for one in offered if rows]
        self.templates = [one.template for one, keys in found if keys]
        every = {key for _, keys in found for key in keys}
        for row in rows:
            row.may_select = row.pk in every

    @property
    def seen_at(self) -> str:
        """When the person is shown the rows."""
        return timezone.now().isoformat()


def chosen_tables(
    request: HttpRequest, lake: str, user: User, *, at_most: int
) -> list[tuple[str, str]]:
    """Return the names of the tables that the bar's form chose.

    Raises:
        RuleViolation: a bad value in the filter, too many tables, or one that is gone meanwhile.
    """
    visible = tables_visible(lake, user)
    if not request.POST.get("everything"):
        keys = {key for key in request.POST.getlist(TICKED) if key.isdecimal()}
        names = visible.filter(pk__in=keys).order_by("db", "name").values_list("db", "name")
        if n_gone := len(keys) - len(names):
            raise RuleViolation(
                "tables.gone",
                f"{n_gone:,} of the ticked tables are gone. Reload the list and tick them again.",
            )
        return list(names)
    chosen = TableFilter(QueryDict(request.POST.get("filter", "")), queryset=visible)
    if not chosen.is_valid():
        field, problems = next(iter(chosen.errors.items()))
        raise RuleViolation("tables.filter", f"{field}: {problems[0]}", field=field)
    found = list(chosen.qs.order_by("db", "name").values_list("db", "name")[: at_most + 1])
    if len(found) > at_most:
        raise RuleViolation(
            "tables.too_many", f"More than {at_most:,} tables match. Narrow the filter."
        )
    return found
