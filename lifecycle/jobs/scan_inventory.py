"""Is what the metastore shows believable, compared with the last good scan?"""

import json
from dataclasses import dataclass

from lifecycle.domain.caps import inventory_shrank
from portal.connectors.filesystem import open_file_system
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import ExternalFailure, NotVisible


@dataclass(frozen=True, slots=True)
class Inventory:
    """How much the metastore shows; tables with views."""

    n_databases: int
    n_tables: int
    n_partitions: int

    def __str__(self) -> str:
        return (
            f"{self.n_databases} databases, {self.n_tables} tables and views, "
            f"{self.n_partitions} partitions"
        )


def check_inventory(now: Inventory, previous: str | None, *, config: LakeConfig) -> None:
    """Stop a scan whose metastore shows half of yesterday or less.

    `previous` is the address of the last good scan's results. Raises ExternalFailure
    `scan.inventory_shrank`.
    """
    before = _read(previous, config) if previous else None
    if before is None:
        return
    pairs = (
        ("databases", before.n_databases, now.n_databases),
        ("tables", before.n_tables, now.n_tables),
        ("partitions", before.n_partitions, now.n_partitions),
    )
    for what, n_before, n_now in pairs:
        if inventory_shrank(previous=n_before, current=n_now):
            raise ExternalFailure(
                "scan.inventory_shrank",
                f"The metastore shows {n_now} {what}, the last good scan saw {n_before}. "
                "Half a lake does not vanish in a day: check that the portal reads the right, "
                "complete metastore database. The last good picture stays.",
                service="metastore_db",
                retryable=False,
                what=what,
                before=n_before,
                now=n_now,
            )


def _read(previous: str, config: LakeConfig) -> Inventory | None:
    """Read the last good scan's manifest, which stands beside its results."""
    path = config.path(previous).parent.child("manifest.json")
    try:
        result = json.loads(open_file_system(path, config=config).read(path))["result"]
    except NotVisible:
        return None  # its spool was cleared away
    n_tables = int(result["n_tables"]) + int(result["n_views"])
    return Inventory(int(result["n_databases"]), n_tables, int(result["n_partitions"]))
