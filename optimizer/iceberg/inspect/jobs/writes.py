"""Finds which old writes still have files in any snapshot of a table."""

from collections.abc import Collection

from pyspark.sql import functions as F

from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.iceberg.access.jobs.write_ids import IN_NAME

_DELETED = 2


def writes_in_use(table: IcebergTable, write_ids: Collection[str]) -> set[str]:
    """Return those that stand in the name of a file of any snapshot, on any branch.

    Raises:
        PortalError: the table went, or another lies under its name by now.
    """
    entries = table.spark.read.format("iceberg").load(f"{table.sql}.all_entries")
    name = F.substring_index("data_file.file_path", "/", -1)
    in_name = F.explode(F.regexp_extract_all(name, F.lit(IN_NAME), F.lit(1)))
    found = entries.where(F.col("status") != _DELETED).select(in_name.alias("write_id"))
    rows = found.where(F.col("write_id").isin(sorted(write_ids))).distinct().collect()
    # Read by its name: what was found counts only if the name still means this table.
    table.again()
    return {row["write_id"] for row in rows}
