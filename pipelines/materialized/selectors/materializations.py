"""Queries of visible materializations and of their refreshes."""

import django_filters as filters
from django.db.models import Q, QuerySet

from pipelines.materialized.selectors.uses import with_uses
from pipelines.models import Materialization, MaterializationRefresh
from portal.access.models import User
from portal.lake.errors import NotVisible
from portal.ui.lists.filters import ListFilter, prefix

ORDERS = {
    "table": ("db", "table"),
    "-table": ("-db", "-table"),
    "fresh": ("fresh_at",),
    "-fresh": ("-fresh_at",),
}
REFRESH_ORDERS = {"-ended": ("-ended_at",), "ended": ("ended_at",)}
_WAYS = [("incremental", "By changes"), ("full", "In full"), ("nothing", "Nothing to do")]


class MaterializationFilter(ListFilter):
    """Materializations by table, owner and state."""

    db = prefix("db", "Database")
    table = prefix("table", "Table")
    owner = prefix("owner", "Owner")
    state = filters.ChoiceFilter(
        method="filter_state",
        choices=[
            ("fresh", "Refreshed"),
            ("new", "Not computed yet"),
            ("paused", "Paused"),
            ("problem", "Not refreshed"),
        ],
        label="State",
        empty_label="Any",
    )

    class Meta:
        model = Materialization
        fields: list[str] = []

    def filter_state(
        self, rows: QuerySet[Materialization], name: str, value: str
    ) -> QuerySet[Materialization]:
        """Keep the materializations that have the badge of a state."""
        going = Q(problem="", is_paused=False)
        wanted = {
            "problem": Q(problem__gt=""),
            "paused": Q(problem="", is_paused=True),
            "fresh": going & Q(fresh_at__isnull=False),
            "new": going & Q(fresh_at__isnull=True),
        }
        return rows.filter(wanted[value])


class RefreshFilter(ListFilter):
    """Refreshes by how they went."""

    way = filters.ChoiceFilter(choices=_WAYS, label="Way", empty_label="Any")
    state = filters.ChoiceFilter(
        choices=[("done", "Done"), ("failed", "Failed")], label="Result", empty_label="Any"
    )

    class Meta:
        model = MaterializationRefresh
        fields: list[str] = []


def materializations_visible(lake: str, user: User) -> QuerySet[Materialization]:
    """Return the materializations of a lake that the person may see."""
    return with_uses(Materialization.objects.for_user(user).filter(lake=lake))


def get_materialization_for_user(number: int, user: User) -> Materialization:
    """Return one materialization.

    Raises:
        NotVisible: `materialized.unknown`, there is none for this person.
    """
    found = with_uses(Materialization.objects.for_user(user).filter(pk=number)).first()
    if found is None:
        raise NotVisible("materialized.unknown", "There is no such materialization for you.")
    return found


def refreshes_of(row: Materialization) -> QuerySet[MaterializationRefresh]:
    """Return the refreshes of a materialization."""
    return MaterializationRefresh.objects.filter(materialization=row)
