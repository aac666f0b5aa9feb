"""Finds the scans that plan most and that nothing serves; the page then reads its rows alone."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import date, datetime
from typing import Any

from django.db import transaction
from django.db.models import Max, Sum

from optimizer.advice.domain.filters import read_filters
from optimizer.cubes.domain.states import CubeState
from optimizer.fleet.domain.help import is_served
from optimizer.iceberg.tables.selectors.scans import days_before
from optimizer.models import Cube, IcebergTable, ScanFilter, ScanShape, UnservedShape
from optimizer.policies.selectors.policies import policies_of

DAYS = 7
MOST_TABLES = 100
"""The ones that plan most; what others plan is less than what any of these does."""
MOST_SHAPES = 2_000
KEPT = 50


def unserved_look(lake: str, *, now: datetime) -> int:
    """Replace the scans of a lake that nothing serves by those of the last week; returns how many.

    Tables are summed by one query of an index by day, and the rest asks for a hundred of them.
    """
    day = days_before(now, DAYS)
    # From the sums on, not from the tables: most tables of a lake are not read in a week.
    busiest = (
        ScanFilter.objects.filter(column="", day__gte=day, table__lake=lake)
        .filter(table__is_deleted=False)
        .order_by()
        .values("table")
        .annotate(planned=Sum("n_bytes"))
        .filter(planned__gt=0)
        .order_by("-planned", "table")[:MOST_TABLES]
    )
    tables = {row.pk: row for row in IcebergTable.objects.filter(pk__in=_keys(busiest, "table"))}
    found = _unserved(lake, tables, _shapes(tables, day))
    with transaction.atomic():
        UnservedShape.objects.filter(table__lake=lake).delete()
        UnservedShape.objects.bulk_create(
            UnservedShape(
                table=tables[one["table"]],
                filters=one["filters"],
                n_scans=one["scans"],
                n_bytes=one["planned"],
                looked_at=now,
            )
            for one in found
        )
    return len(found)


def _keys(rows: Iterable[Mapping[str, Any]], name: str) -> list[Any]:
    return [one[name] for one in rows]


def _shapes(tables: Collection[int], day: date) -> list[dict[str, Any]]:
    """Return the shapes of some tables by what they planned, with their filters."""
    summed = list(
        ScanShape.objects.filter(table__in=tables, day__gte=day)
        .order_by()
        .values("table", "digest")
        .annotate(planned=Sum("n_bytes"), scans=Sum("n_scans"), one=Max("pk"))
        .filter(planned__gt=0)
        .order_by("-planned", "table", "digest")[:MOST_SHAPES]
    )
    named = ScanShape.objects.filter(pk__in=_keys(summed, "one")).values_list("pk", "filters")
    filters = dict(named)
    return [{**one, "filters": filters[one["one"]]} for one in summed]


def _unserved(
    lake: str, tables: Mapping[int, IcebergTable], shapes: Iterable[dict[str, Any]]
) -> list[dict[str, Any]]:
    policies, cubes = policies_of(lake), _dimensions(tables)
    found = []
    for one in shapes:
        row = tables[one["table"]]
        policy = policies.of(row.db, row.table).policy
        served = is_served(
            read_filters(one["filters"]),
            layout=policy.layout.columns,
            indexes=policy.index_columns,
            cubes=cubes.get(row.pk, ()),
        )
        if not served:
            found.append(one)
        if len(found) == KEPT:
            break
    return found


def _dimensions(tables: Collection[int]) -> Mapping[int, list[set[str]]]:
    """Return the dimensions of each table's cubes that are kept up to date."""
    found: defaultdict[int, list[set[str]]] = defaultdict(list)
    kept = Cube.objects.filter(table__in=tables, is_there=True, state=CubeState.ACTIVE)
    for cube in kept.prefetch_related("versions"):
        for version in cube.versions.all():
            if version.version == cube.version:
                names = {str(one.get("name")) for one in version.definition.get("dimensions", ())}
                found[cube.table_id].append(names)
    return found
