"""How the caches of tables stand: as the worst of the clusters that have them."""

from collections.abc import Sequence

from portal.catalog.domain.health import Finding, HealthLevel
from portal.catalog.models import Table
from portal.catalog.selectors import is_named
from portal.catalog.services.columns import TableColumn, Values
from portal.catalog.services.registry import Findings
from portal.ui.frame.states import badge_for
from refresh.freshness.domain.freshness import Danger
from refresh.models import RefreshTarget, WatchedTable

CACHE = "cache"
COLUMNS = (
    TableColumn("stale_since", "Cache stale since", 100, "ago", CACHE),
    TableColumn("refreshed_at", "Cache refreshed", 110, "ago", CACHE),
)
_LEVELS = {
    Danger.WRONG: HealthLevel.BAD,
    Danger.UNKNOWN: HealthLevel.UNKNOWN,
    Danger.INCOMPLETE: HealthLevel.WARN,
    Danger.NONE: HealthLevel.OK,
}


def tables_health(lake: str, tables: Sequence[Table]) -> Findings:
    """Return the part of each table that some cluster has."""
    return {key: {CACHE: cache_of(row)} for key, row in _worst(lake, tables).items()}


def tables_columns(lake: str, tables: Sequence[Table]) -> Values:
    """Return the columns of each table that some cluster has, of the one where it stands worst."""
    return {
        key: {"stale_since": row.stale_since, "refreshed_at": row.refreshed_at}
        for key, row in _worst(lake, tables).items()
    }


def _worst(lake: str, tables: Sequence[Table]) -> dict[int, RefreshTarget]:
    keys = {(table.db, table.name): table.pk for table in tables}
    watched = WatchedTable.objects.filter(is_named(keys, column="table"), lake=lake)
    rows = RefreshTarget.objects.filter(watched__in=watched).select_related("watched", "cluster")
    found: dict[int, RefreshTarget] = {}
    for row in rows.defer("steps", "past").order_by("rank", "pk"):
        found.setdefault(keys[row.watched.db, row.watched.table], row)
    return found


def cache_of(row: RefreshTarget) -> Finding:
    """Judge a table in one cluster by what its queries may get."""
    if row.watched.is_opted_out:
        return Finding(HealthLevel.UNKNOWN, f"Auto-refresh is off in {row.cluster.name}")
    words = badge_for(f"DANGER_{row.danger}").word
    return Finding(_LEVELS[Danger(row.danger)], f"{words} in {row.cluster.name}")
