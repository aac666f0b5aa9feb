"""Checks whether the metastore's counts are believable, compared with the last good scan."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from lifecycle.core.domain.caps import inventory_shrank
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


def check_inventory(
    now: Inventory,
    previous: str | None,
    *,
    config: LakeConfig,
    accepted: Mapping[str, int] | None = None,
) -> None:
    """Stop a scan whose metastore shows half of yesterday or less.

    `previous` is the address of the last good scan's results; `accepted` are smaller counts that a
    person has taken for true. Raises ExternalFailure `scan.inventory_shrank`.
    """
    before = _read(previous, config) if previous else None
    if before is None:
        return
    pairs = tuple(
        (what, min(n_before, (accepted or {}).get(what, n_before)), n_now)
        for what, n_before, n_now in (
            ("databases", before.n_databases, now.n_databases),
            ("tables", before.n_tables, now.n_tables),
            ("partitions", before.n_partitions, now.n_partitions),
        )
    )
    for what, n_before, n_now in pairs:
        if inventory_shrank(previous=n_before, current=n_now):
            raise ExternalFailure(
                "scan.inventory_shrank",
                f"The metastore shows {n_now} {what}, the last good scan saw {n_before}. "
                "Half a lake does not vanish in a day: check that the portal reads the right, "
                "complete metastore database. The pages keep showing the last good scan. If the "
                "lake is that "
                "small now, an admin accepts it on this run's page.",
                service="metastore_db",
                retryable=False,
                what=what,
                **{f"{name}_before": n for name, n, _ in pairs},
                **{f"{name}_now": n for name, _, n in pairs},
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
