"""Says which cubes a run shall estimate for a table, from what queries of four weeks group by."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, Sum

from optimizer.advice.domain.stars.cube_advice import Candidate, RecordedGrouping, candidates
from optimizer.advice.domain.stars.drafts import definition_of, held_by, used_of
from optimizer.cubes.services.definitions import MAX_CUBES
from optimizer.iceberg.tables.selectors.groupings import groupings_summed, recorded_groupings
from optimizer.iceberg.tables.selectors.scans import SHOWN_DAYS, since
from optimizer.models import Cube, CubeVersion, IcebergTable

REASONS_KEPT = 10


def cube_order(row: IcebergTable, *, now: datetime) -> dict[str, Any]:
    """Return the definitions to estimate, in `cubes`, and what all queries read, in `grouped`.

    What a cube of the table holds already, also a paused one, is asked for no more.
    """
    groupings = recorded_groupings(groupings_summed(row, now=now))
    if not groupings:
        return {"cubes": [], "grouped": None}
    current = CubeVersion.objects.filter(
        cube__table=row, cube__is_there=True, version=F("cube__version")
    )
    existing = [held_by(one.definition) for one in current]
    found, held = candidates(groupings, existing)
    days = row.scan_filters.filter(day__gte=since(now), column="", kind="")
    scanned = days.aggregate(n_bytes=Sum("n_bytes"))["n_bytes"] or 0
    return {
        "cubes": _orders(row, found) if len(existing) < MAX_CUBES else [],
        "grouped": {
            "n_bytes": scanned,
            "n_days": days.values("day").distinct().count(),
            "added_a_day": _added_a_day(row, now),
            "n_queries": sum(one.n_queries for one in groupings),
            "held": _sums(held),
            "refused": _refused(groupings),
        },
    }


def _orders(row: IcebergTable, found: Sequence[Candidate]) -> list[dict[str, Any]]:
    # The names of dropped cubes are free again.
    taken = set(Cube.objects.filter(table=row, is_there=True).values_list("name", flat=True))
    orders = []
    for one in found:
        definition = definition_of(one.held, str(row), taken=taken)
        taken.add(definition["name"])
        orders.append(
            {
                "definition": definition,
                "asked": [
                    {
                        "dimensions": used_of(one.held, definition, each.wanted),
                        "n_queries": each.n_queries,
                    }
                    for each in one.answered
                ],
                "digests": [each.digest for each in one.answered],
                "n_queries": one.n_queries,
                "n_days": one.n_days,
                "n_bytes": one.n_bytes,
                "seconds": one.seconds,
            }
        )
    return orders


def _added_a_day(row: IcebergTable, now: datetime) -> float:
    """Return the bytes that writers add; of our own rewrites cubes are merged without reading."""
    commits = row.commits.filter(at__gte=now - timedelta(days=SHOWN_DAYS), is_ours=False)
    return (commits.aggregate(n=Sum("bytes_added"))["n"] or 0) / SHOWN_DAYS


def _sums(groupings: Iterable[RecordedGrouping]) -> dict[str, int]:
    given = list(groupings)
    return {
        "n_queries": sum(one.n_queries for one in given),
        "n_bytes": sum(one.n_bytes for one in given),
    }


def _refused(groupings: Iterable[RecordedGrouping]) -> list[dict[str, Any]]:
    """Return why no cube could answer queries, and how many, those that read most first."""
    by_reason: dict[str, list[RecordedGrouping]] = {}
    for one in groupings:
        if one.refused:
            by_reason.setdefault(one.refused, []).append(one)
    found: list[dict[str, Any]] = [
        {"reason": reason, **_sums(those)} for reason, those in by_reason.items()
    ]
    return sorted(found, key=lambda one: (-one["n_bytes"], one["reason"]))[:REASONS_KEPT]
