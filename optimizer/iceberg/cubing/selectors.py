"""Tells which cubes of a table are to be kept, and how many of them are behind it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import F, QuerySet

from optimizer.cubes.domain.states import BUILT
from optimizer.models import Cube, CubeVersion, IcebergTable
from portal.catalog.selectors import is_named


def cube_definitions(row: IcebergTable) -> list[dict[str, Any]]:
    """Return the definitions that hold for a table's cubes that are kept, by name."""
    versions = _kept_versions().filter(cube__table=row)
    return [
        {**one.definition, "definition_version": one.version}
        for one in versions.order_by("cube__name")
    ]


def n_cubes_behind(row: IcebergTable) -> int:
    """Return how many cubes were last built at another snapshot or of another definition.

    Snapshots of joined tables count as the table's own: with another one a cube is not used.
    """
    kept = [one for one in row.cubes.all() if one.is_there and one.state in BUILT]
    now = row.looked_snapshot_id
    joined = _snapshots_now(row.lake, kept)
    return sum(
        (one.snapshot_id, one.built_version) != (now, one.version)
        or any(_is_behind(of, joined) for of in one.dimensions)
        for one in kept
    )


def with_cubes(rows: Iterable[IcebergTable]) -> set[int]:
    """Return the keys of those tables that have a cube that is kept."""
    found = Cube.objects.filter(table__in=list(rows), state__in=BUILT, is_there=True)
    return set(found.values_list("table", flat=True))


def behind_joined(lake: str, rows: Iterable[IcebergTable]) -> dict[IcebergTable, list[str]]:
    """Return tables with a cube that joins one of these rows and was not built with its snapshot.

    To each the names of those that it joins.
    """
    by_name = {f"{row.db}.{row.table}": row for row in rows}
    if not by_name:
        return {}
    versions = _kept_versions().filter(cube__table__lake=lake, cube__table__is_deleted=False)
    found: defaultdict[IcebergTable, set[str]] = defaultdict(set)
    for one in versions.select_related("cube__table"):
        known = {of["alias"]: of for of in one.cube.dimensions}
        for join in one.definition["joins"]:
            joined = by_name.get(join["table"])
            of = known.get(join["alias"], {})
            if joined is not None and not _holds(of, joined.uuid, joined.snapshot_id):
                found[one.cube.table].add(join["table"])
    return {row: sorted(names) for row, names in found.items()}


def _kept_versions() -> QuerySet[CubeVersion]:
    return CubeVersion.objects.filter(
        cube__state__in=BUILT, cube__is_there=True, version=F("cube__version")
    )


def _snapshots_now(lake: str, cubes: Iterable[Cube]) -> dict[str, tuple[str, int | None]]:
    """Return uuid and snapshot of every table that cubes join, as they were last heard of."""
    names = {str(of["table"]) for one in cubes for of in one.dimensions}
    if not names:
        return {}
    pairs = {(name.partition(".")[0], name.partition(".")[2]) for name in names}
    found = IcebergTable.objects.filter(
        is_named(pairs, column="table"), lake=lake, is_deleted=False
    )
    values = found.values_list("db", "table", "uuid", "snapshot_id")
    return {f"{db}.{table}": (uuid, snapshot_id) for db, table, uuid, snapshot_id in values}


def _is_behind(of: Mapping[str, Any], joined: Mapping[str, tuple[str, int | None]]) -> bool:
    now = joined.get(of["table"])
    return now is not None and not _holds(of, *now)


def _holds(of: Mapping[str, Any], uuid: str, snapshot_id: int | None) -> bool:
    """Whether a cube is right with a snapshot of a table that it joins; 0 is an empty table's."""
    return of.get("uuid") == uuid and (snapshot_id or 0) in of.get("snapshot_ids", ())
