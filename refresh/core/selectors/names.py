"""Queries of the tables of clusters that represent a Hive table."""

from collections.abc import Iterable
from dataclasses import dataclass

from portal.lake.names import TableName
from refresh.models import ClusterCatalog, DeclaredTable


@dataclass(frozen=True, slots=True)
class Named:
    """A table as one cluster names it; `catalog` is empty for a table on a resource."""

    cluster_id: int
    catalog: str
    db: str
    table: str

    @property
    def full_name(self) -> str:
        """The name that people there use."""
        return ".".join(part for part in (self.catalog, self.db, self.table) if part)


def named_for(hive: TableName) -> list[Named]:
    """Return every table that shows this Hive table, in a fixed order."""
    return named_for_all([hive])[hive]


def named_for_all(hives: Iterable[TableName]) -> dict[TableName, list[Named]]:
    """Return every table that shows each of these Hive tables; two queries, however many.

    A catalog shows each table of its metastore under its own name; tables on resources were
    declared one by one, and one Hive table may have many.
    """
    wanted = {(str(hive.lake), hive.db, hive.table): hive for hive in hives}
    found: dict[TableName, list[Named]] = {hive: [] for hive in wanted.values()}
    lakes = {lake for lake, _, _ in wanted}
    catalogs = ClusterCatalog.objects.filter(lake__in=lakes)
    by_rule = list(catalogs.values_list("lake", "cluster_id", "name"))
    for (lake, db, table), hive in wanted.items():
        found[hive] += [Named(key, name, db, table) for of, key, name in by_rule if of == lake]
    declared = DeclaredTable.objects.filter(
        lake__in=lakes, hive_table__in={table for _, _, table in wanted}
    )
    rows = declared.values_list("lake", "hive_db", "hive_table", "cluster_id", "db", "table")
    for lake, hive_db, hive_table, key, db, table in rows:
        if (lake, hive_db, hive_table) in wanted:
            found[wanted[lake, hive_db, hive_table]].append(Named(key, "", db, table))
    for some in found.values():
        some.sort(key=lambda one: (one.cluster_id, one.catalog, one.db, one.table))
    return found


def is_shown(lake: str) -> bool:
    """Whether any cluster shows tables of this lake."""
    return (
        ClusterCatalog.objects.filter(lake=lake).exists()
        or DeclaredTable.objects.filter(lake=lake).exists()
    )
