"""The places of a table by its own metadata, and paths without their file system."""

from pyspark.sql import Column
from pyspark.sql import functions as F

from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.iceberg.maintenance.domain.orphans import (
    PREFIX,
    SLASHES,
)


def places_of(table: IcebergTable) -> tuple[str, ...]:
    """Return the directories that are the table's by its own metadata."""
    metadata = table.properties.get("write.metadata.path", table.location)
    return (table.location, table.data_location, metadata)


def bare_column(text: Column) -> Column:
    """Return paths as `bare` of the domain reads them."""
    return F.regexp_replace(F.regexp_replace(text, PREFIX, ""), SLASHES, "/")
