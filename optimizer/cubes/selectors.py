"""Reads cubes: those that a person may see, one with its coverage, and what of them is in order."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

import django_filters as filters
from django.db.models import F, Max, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from optimizer.cubes.domain.states import CubeState
from optimizer.models import (
    Cube,
    CubeBuild,
    CubeCoverage,
    CubeUse,
    CubeVersion,
    IcebergTable,
    OptimizeTask,
)
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
USE_ORDERS = {"-day": ("-day",), "day": ("day",), "-queries": ("-n_queries",)}
BUILD_ORDERS = {"-at": ("-at",), "at": ("at",), "-seconds": ("-seconds",)}
PARTITIONS_DRAWN = 40
USED_DAYS = 7
"""What queries had from a cube is summed over so many days, today being one of them."""
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


def cubes_visible(lake: str, user: User, *, now: datetime) -> QuerySet[Cube]:
    """Return the cubes of the tables of a lake that the person may see, with their savings."""
    seen = visible_to(user, prefix="table__")
    return with_savings(Cube.objects.filter(seen, table__lake=lake), now=now)


def with_savings(cubes: QuerySet[Cube], *, now: datetime) -> QuerySet[Cube]:
    """Add what the last days' queries had of each cube, as readers reported it.

    `n_queries`, `n_rows_saved` and `n_bytes_saved` are sums of `USED_DAYS` days, and
    `last_used_at` is the latest of all weeks that are kept.
    """
    uses = CubeUse.objects.filter(cube=OuterRef("pk")).order_by().values("cube")
    lately = uses.filter(day__gte=_since(now))

    def total(name: str) -> Coalesce:
        return Coalesce(Subquery(lately.annotate(n=Sum(name)).values("n")), 0)

    return cubes.select_related("table").annotate(
        n_queries=total("n_queries"),
        n_rows_saved=total("n_rows"),
        n_bytes_saved=total("n_bytes"),
        last_used_at=Subquery(uses.annotate(at=Max("last_used_at")).values("at")),
    )


def _since(now: datetime) -> date:
    return now.astimezone(UTC).date() - timedelta(days=USED_DAYS - 1)


@dataclass(frozen=True, slots=True)
class UseOfCube:
    """What one reader's queries had from a cube in the last days; counts as `CubeUse` has them."""

    engine: str
    application: str
    user: str
    n_queries: int
    n_rows: int
    n_bytes: int
    n_fresh_rows: int
    n_cube_rows: int
    n_timed: int
    seconds: float
    last_used_at: datetime

    @property
    def seconds_each(self) -> float | None:
        """The mean of the queries whose seconds are known."""
        return self.seconds / self.n_timed if self.n_timed else None


def readers_lately(cube: Cube, *, now: datetime) -> list[UseOfCube]:
    """Return who had answers from a cube within the weeks that are kept, the latest first.

    The sums are those of the last seven days; a reader that asked earlier has none.
    """
    within = Q(day__gte=_since(now))
    summed = (
        uses_of(cube)
        .order_by()
        .values("engine", "application", "user")
        .annotate(
            n_queries=Coalesce(Sum("n_queries", filter=within), 0),
            n_rows=Coalesce(Sum("n_rows", filter=within), 0),
            n_bytes=Coalesce(Sum("n_bytes", filter=within), 0),
            n_fresh_rows=Coalesce(Sum("n_fresh_rows", filter=within), 0),
            n_cube_rows=Coalesce(Sum("n_cube_rows", filter=within), 0),
            n_timed=Coalesce(Sum("n_timed", filter=within), 0),
            seconds=Coalesce(Sum("seconds", filter=within), 0.0),
            last_used_at=Max("last_used_at"),
        )
    )
    found = [UseOfCube(**one) for one in summed]
    return sorted(found, key=lambda one: one.last_used_at, reverse=True)


def uses_of(cube: Cube) -> QuerySet[CubeUse]:
    """Return what readers reported of a cube by day, unordered."""
    return cube.uses.all()


def get_cube_for_user(cube_id: int, user: User, *, now: datetime | None = None) -> Cube:
    """Return one cube, whatever its lake; with its savings where `now` is given.

    Raises:
        NotVisible: `cube.none`, there is none for this person.
    """
    seen = visible_to(user, prefix="table__")
    rows = Cube.objects.filter(seen, pk=cube_id).select_related("table")
    found = (rows if now is None else with_savings(rows, now=now)).first()
    if found is None:
        raise NotVisible("cube.none", "There is no such cube for you.", cube=cube_id)
    return found


def cubes_of(table: IcebergTable, *, now: datetime) -> list[Cube]:
    """Return the cubes of a table by name with their savings, without dropped ones."""
    return list(with_savings(table.cubes.filter(is_there=True), now=now).order_by("name"))


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
