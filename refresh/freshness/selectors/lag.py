"""How far the front ends are behind with the tables that stand worst."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, OuterRef

from portal.access.models import User
from refresh.freshness.domain.freshness import Freshness
from refresh.freshness.selectors.tables import targets_of
from refresh.models import TargetFrontEnd, WatchedTable

BEHIND = (Freshness.DIVERGED, Freshness.STALE)


@dataclass(frozen=True, slots=True)
class LagCell:
    """How one table stands on one front end."""

    freshness: Freshness
    stale_since: datetime | None


@dataclass(frozen=True, slots=True)
class LagMatrix:
    """Tables that stand worst, and how each stands on the front ends that have it."""

    tables: tuple[str, ...]
    front_ends: tuple[str, ...]
    cells: Mapping[tuple[str, str], LagCell]


def lag_matrix(lake: str, user: User, *, n_tables: int, n_front_ends: int) -> LagMatrix:
    """Return the worst tables by front end; of many front ends those that are behind most often.

    The worst come from an index, so the size of the lake costs nothing.
    """
    living = WatchedTable.objects.filter(pk=OuterRef("watched_id"), is_deleted=False)
    targets = targets_of(lake, user).filter(Exists(living)).order_by("rank", "pk")
    worst = list(targets.values_list("pk", flat=True)[:n_tables])
    rows = TargetFrontEnd.objects.filter(target__in=worst).order_by("target__rank", "target_id")
    cells: dict[tuple[str, str], LagCell] = {}
    n_behind: Counter[str] = Counter()
    for db, table, cluster, host, port, state, since in rows.values_list(
        *("target__db", "target__table", "fe__cluster__name", "fe__host", "fe__query_port"),
        *("freshness", "stale_since"),
    ):
        place = f"{db}.{table}", f"{cluster} {host}:{port}"
        n_behind[place[1]] += Freshness(state) in BEHIND
        # Of two catalogs that have the name the worse one came first.
        cells.setdefault(place, LagCell(Freshness(state), since))
    front_ends = sorted(n_behind, key=lambda one: (-n_behind[one], one))[:n_front_ends]
    return LagMatrix(tuple(dict.fromkeys(one for one, _ in cells)), tuple(front_ends), cells)
