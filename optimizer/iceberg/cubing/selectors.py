"""Tells which cubes of a table are to be kept, and how many of them are behind it."""

from collections.abc import Iterable
from typing import Any

from django.db.models import F

from optimizer.cubes.domain.states import BUILT
from optimizer.models import Cube, CubeVersion, IcebergTable


def cube_definitions(row: IcebergTable) -> list[dict[str, Any]]:
    """Return the definitions that hold for a table's cubes that are kept, by name."""
    versions = CubeVersion.objects.filter(
        cube__table=row, cube__state__in=BUILT, cube__is_there=True, version=F("cube__version")
    )
    return [
        {**one.definition, "definition_version": one.version}
        for one in versions.order_by("cube__name")
    ]


def n_cubes_behind(row: IcebergTable) -> int:
    """Return how many cubes were last built at another snapshot or of another definition."""
    now = row.looked_snapshot_id
    return sum(
        (one.snapshot_id, one.built_version) != (now, one.version)
        for one in row.cubes.all()
        if one.is_there and one.state in BUILT
    )


def with_cubes(rows: Iterable[IcebergTable]) -> set[int]:
    """Return the keys of those tables that have a cube that is kept."""
    found = Cube.objects.filter(table__in=list(rows), state__in=BUILT, is_there=True)
    return set(found.values_list("table", flat=True))
