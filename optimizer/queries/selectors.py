"""Says how many queries engines told of lately, what became of them, and which cost most."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import django_filters as filters
from django.db.models import (
    Exists,
    Max,
    OuterRef,
    QuerySet,
    Sum,
    prefetch_related_objects,
)

from optimizer.core.models import table_models
from optimizer.cubes.domain.readers import Engine
from optimizer.iceberg.tables.selectors.scans import since
from optimizer.models import QueryDay, TopShape, TopShapeTable
from portal.access.models import User
from portal.access.visibility import visible_to
from portal.lake.errors import NotVisible
from portal.ui.lists.filters import ListFilter

_SUMS = (
    *("n_queries", "n_scans", "n_unknown", "n_failed"),
    *("n_unread", "n_unparsed", "n_repeated", "n_dropped", "n_not_kept"),
)
_SAID = ("unread", "unparsed")
HELP = {"none": False, "some": True}
SHAPE_ORDERS = {
    "-seconds": ("-seconds",),
    "-queries": ("-n_queries",),
    "-bytes": ("-n_bytes",),
}


class TopShapeFilter(ListFilter):
    """Shapes of queries by engine, table, help and words."""

    engine = filters.ChoiceFilter(
        choices=[(one.value, one.value.capitalize()) for one in Engine],
        label="Engine",
        empty_label="Any",
    )
    help = filters.ChoiceFilter(
        choices=[("none", "Nothing narrows it"), ("some", "Something narrows it")],
        label="Help",
        empty_label="Any",
        method="with_help",
    )
    table = filters.CharFilter(label="Table", method="of_table", help_text="database.table")
    text = filters.CharFilter(label="Query contains", lookup_expr="icontains")

    class Meta:
        model = TopShape
        fields: list[str] = []

    def with_help(self, rows: QuerySet[TopShape], _name: str, value: str) -> QuerySet[TopShape]:
        """Keep the shapes that something narrows, or nothing."""
        return rows.filter(is_helped__in=(HELP[value],))

    def of_table(self, rows: QuerySet[TopShape], _name: str, value: str) -> QuerySet[TopShape]:
        """Keep the shapes that read a table, or a table of a database."""
        db, _, table = value.strip().lower().partition(".")
        read = TopShapeTable.objects.filter(shape=OuterRef("pk"), db=db, table__startswith=table)
        return rows.filter(Exists(read))


def queries_lately(lake: str, *, now: datetime) -> Sequence[Mapping[str, Any]]:
    """Return for each engine that told of queries in four weeks what became of its events."""
    days = QueryDay.objects.filter(lake=lake, day__gte=since(now)).order_by()
    sums = days.values("engine").annotate(
        last_at=Max("last_at"), **{name: Sum(name) for name in _SUMS}
    )
    found: list[dict[str, Any]] = [dict(one) for one in sums.order_by("engine")]
    for one in found:
        of_engine = days.filter(engine=one["engine"])
        for name in _SAID:
            last = of_engine.exclude(**{name: ""}).order_by("-day").values_list(name, flat=True)
            one[name] = last.first() or ""
    return found


def top_shapes_visible(lake: str, user: User) -> QuerySet[TopShape]:
    """Return the shapes of a lake all of whose tables the person sees, with these tables.

    A shape that reads what no engine named is for admins and operators alone.
    """
    rows = TopShape.objects.filter(lake=lake).prefetch_related("tables")
    if user.is_lake_staff_of(lake):
        return rows
    named = TopShapeTable.objects.filter(shape=OuterRef("pk"))
    here = {"lake": lake, "db": OuterRef("db"), "table": OuterRef("table"), "is_deleted": False}
    unseen = named
    for model in table_models():
        unseen = unseen.filter(~Exists(model._default_manager.filter(visible_to(user), **here)))
    return rows.filter(Exists(named), ~Exists(unseen), names_all_tables=True)


def shapes_reading(lake: str, db: str, table: str, user: User) -> QuerySet[TopShape]:
    """Return the shapes that read a table, those that took most time first."""
    reading = TopShapeTable.objects.filter(db=db, table=table).values("shape")
    return top_shapes_visible(lake, user).filter(pk__in=reading).order_by("-seconds")


def get_top_shape_for_user(lake: str, digest: str, user: User) -> TopShape:
    """Return one shape.

    Raises:
        NotVisible: `queries.shape`.
    """
    found = top_shapes_visible(lake, user).filter(digest=digest).first()
    if found is None:
        raise NotVisible(
            "queries.shape", "No such query is among those that cost most, for you.", digest=digest
        )
    return found


def name_tables(rows: Sequence[Any]) -> None:
    """Give each shape of a page the names of its tables, in one query."""
    prefetch_related_objects(rows, "tables")
    for row in rows:
        row.table_names = ", ".join(sorted(map(str, row.tables.all())))
