"""Finds whose location equals, or is under, the location of something else.

Dropping that something would take the other's data away. The usual layout (table/k=v/..., no table
inside another) cannot overlap, so only what departs from it is compared: the rows of tables with an
odd location or inside one another, and the roots of all tables and databases.
"""

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from lifecycle.core.domain.nesting import NamedLocation, shared_locations
from lifecycle.inventory.jobs.tables import Catalog, read_path
from portal.connectors.lake_config import LakeConfig

_SCHEMA = "other string, other_location string"
# Parts of "scheme://authority/a" before the first directory: scheme, nothing, authority.
_HEAD = 3


def odd_tables(items: DataFrame, catalog: Catalog) -> list[int]:
    """Return the order numbers of the tables whose rows must be compared; usually none."""
    odd = items.where(~F.col("standard")).select("torder").distinct().collect()
    return sorted({int(row["torder"]) for row in odd} | _nested_tables(catalog))


def unknown_file_systems(items: DataFrame, catalog: Catalog, config: LakeConfig) -> list[str]:
    """Return the file systems in the inventory that no configuration names."""
    roots = F.regexp_extract("location", "^([a-zA-Z][a-zA-Z0-9+.-]*://[^/]*)/", 1)
    texts = {str(row[0]) for row in items.select(roots).distinct().collect()}
    places = [path for text in texts if text and (path := read_path(text + "/", config))]
    places += [place.path for place in _roots(catalog)]
    return config.unknown_file_systems(places)


def shared_rows(
    items: DataFrame, odd: list[int], catalog: Catalog, spark: SparkSession
) -> DataFrame:
    """Return (tbl_id, part_id, shared_with) of the rows that hold one other thing's location."""
    roots = [(place.name, str(place.path)) for place in _roots(catalog)]
    rows = items.where(F.col("torder").isin(odd) & (F.col("part_id") != 0)).select(
        _name().alias("other"), F.col("location").alias("other_location")
    )
    others = rows.unionByName(spark.createDataFrame(roots, _SCHEMA))
    places = others.select("other", F.explode(_self_and_above("other_location")).alias("place"))
    return (
        items.select("tbl_id", "part_id", _name().alias("own"), "location")
        .join(places, F.col("location") == F.col("place"))
        .where(F.col("other") != F.col("own"))
        .groupBy("tbl_id", "part_id")
        .agg(F.min("other").alias("shared_with"))
    )


def _name() -> Column:
    """Return a row's name: `db.tbl` or `db.tbl/k=v`."""
    table = F.concat("db", F.lit("."), "tbl")
    partition = F.concat(table, F.lit("/"), F.col("part_name"))
    return F.when(F.col("part_id") == 0, table).otherwise(partition)


def _self_and_above(location: str) -> Column:
    """Return a location and each directory above it; nothing for what is no path."""
    parts = F.split(location, "/")
    is_path = F.col(location).contains("://") & (F.size(parts) > _HEAD)
    lengths = F.when(is_path, F.sequence(F.lit(_HEAD + 1), F.greatest(F.size(parts), F.lit(4))))
    return F.transform(lengths, lambda n: F.array_join(F.slice(parts, F.lit(1), n), "/"))


def _roots(catalog: Catalog) -> list[NamedLocation]:
    databases = [
        NamedLocation(f"database {db.name}", db.location)
        for db in catalog.databases
        if db.location is not None
    ]
    tables = [
        NamedLocation(f"{table.db}.{table.name}", table.location)
        for table in catalog.tables
        if table.location is not None
    ]
    return [*databases, *tables]


def _nested_tables(catalog: Catalog) -> set[int]:
    """Find the tables that hold another table or a database, or lie in such a one."""
    holders = {found.name for found in shared_locations(_roots(catalog))}
    holding = {
        str(table.location)
        for table in catalog.tables
        if table.location is not None and f"{table.db}.{table.name}" in holders
    }
    if not holding:
        return set()
    return {
        table.order
        for table in catalog.tables
        if table.location is not None and not holding.isdisjoint(_above(str(table.location)))
    }


def _above(location: str) -> list[str]:
    """Return a location and each directory above it (as `_self_and_above` does in Spark)."""
    parts = location.split("/")
    return ["/".join(parts[:n]) for n in range(_HEAD + 1, len(parts) + 1)]
