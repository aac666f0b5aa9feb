"""Reads cubes: those that a person may see, one with its coverage, and what of them is in order."""

from collections.abc import Sequence
from typing import Any

import django_filters as filters
from django.db.models import F, Q, QuerySet

from optimizer.cubes.domain.states import CubeState
from optimizer.models import Cube, CubeBuild, CubeCoverage, CubeVersion, IcebergTable, OptimizeTask
from portal.access.models import User
from portal.access.visibility import visible_to
from portal.lake.errors import NotVisible
from portal.ui.frame.states import badge_for
from portal.ui.lists.filters import ListFilter, prefix

CUBE_ORDERS = {
    "name": ("table__db", "table__table", "name"),
    "-built": ("-built_at",),
    "-bytes": ("-n_bytes",),
    "-rows": ("-n_cube_rows",),
}
COVERAGE_ORDERS = {"newest": ("place",), "-rows": ("-n_rows",)}
VERSION_ORDERS = {"-version": ("-version",), "version": ("version",)}
BUILD_ORDERS = {"-at": ("-at",), "at": ("at",), "-seconds": ("-seconds",)}
PARTITIONS_DRAWN = 40
BUILDS = "CUBE"
"""The kind of the tasks that build cubes."""
SHOWS = [
    ("stale", "Not covering all rows"),
    ("problem", "With a problem"),
    ("unbuilt", "Not built yet"),
]
_SHOWN = {
    "stale": Q(n_rows_covered__lt=F("n_rows")),
    "problem": ~Q(problem=""),
    "unbuilt": Q(built_at=None),
}


def state_choices() -> list[tuple[str, str]]:
    """Return the states with their words."""
    return [(one.value, badge_for(f"CUBE_{one}").word) for one in CubeState]


class CubeFilter(ListFilter):
    """Cubes by state, table and name; dropped ones only when asked for."""

    state = filters.ChoiceFilter(choices=state_choices, label="State", empty_label="Any")
    show = filters.ChoiceFilter(
        choices=SHOWS, label="Only", empty_label="Any", method="filter_show"
    )
    db = prefix("table__db", "Database")
    table = prefix("table__table", "Table")
    name = prefix("name", "Cube")

    class Meta:
        model = Cube
        fields: list[str] = []

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Leave out dropped ones, unless they are asked for."""
        rows: QuerySet[Any] = super().filter_queryset(queryset)
        dropped = self.form.cleaned_data.get("state") == CubeState.DROPPED
        return rows if dropped else rows.filter(is_there=True)

    def filter_show(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Keep what is in this state."""
        return rows.filter(_SHOWN[value])


def cubes_visible(lake: str, user: User) -> QuerySet[Cube]:
    """Return the cubes of the tables of a lake that the person may see."""
    seen = visible_to(user, prefix="table__")
    return Cube.objects.filter(seen, table__lake=lake).select_related("table")


def get_cube_for_user(cube_id: int, user: User) -> Cube:
    """Return one cube, whatever its lake.

    Raises:
        NotVisible: `cube.none`, there is none for this person.
    """
    seen = visible_to(user, prefix="table__")
    found = Cube.objects.filter(seen, pk=cube_id).select_related("table").first()
    if found is None:
        raise NotVisible("cube.none", "There is no such cube for you.", cube=cube_id)
    return found


def cubes_of(table: IcebergTable) -> list[Cube]:
    """Return the cubes of a table by name, without dropped ones."""
    return list(table.cubes.filter(is_there=True).select_related("table").order_by("name"))


def coverage_of(cube: Cube) -> QuerySet[CubeCoverage]:
    """Return what is known by partition, unordered."""
    return cube.coverage.all()


def newest_partitions(cube: Cube) -> Sequence[CubeCoverage]:
    """Return the coverage of the newest partitions, the newest first."""
    return list(coverage_of(cube).order_by("place")[:PARTITIONS_DRAWN])


def versions_of(cube: Cube) -> QuerySet[CubeVersion]:
    """Return the definitions of a cube, unordered."""
    return cube.versions.all()


def version_of(cube: Cube) -> CubeVersion:
    """Return the definition that holds now."""
    return cube.versions.get(version=cube.version)


def builds_of(cube: Cube) -> QuerySet[CubeBuild]:
    """Return the builds of a cube that are kept, unordered."""
    return cube.builds.all()


def open_builds(cube: Cube) -> list[OptimizeTask]:
    """Return the open tasks that build cubes of the table."""
    return list(cube.table.tasks.filter(kind=BUILDS, is_open=True))
