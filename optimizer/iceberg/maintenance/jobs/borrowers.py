"""Refuses removals of files that another Iceberg table has taken into its own metadata.

`add_files` and `snapshot` make a table name files of another one; the metastore shows nothing of
it. The portal knows by its looks which tables have files outside of their own places, and those are
asked.
"""

from collections.abc import Sequence

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from optimizer.iceberg.access.jobs.errors import GONE, NOT_ICEBERG, REPLACED, clear_errors
from optimizer.iceberg.access.jobs.iceberg import open_table
from optimizer.iceberg.access.jobs.locations import bare_column
from optimizer.iceberg.maintenance.jobs.expire import metadata_rows
from optimizer.iceberg.maintenance.jobs.removal_orders import Borrower
from portal.lake.errors import PortalError, RuleViolation
from portal.lake.paths import LakePath

_NOT_THERE = frozenset({GONE, NOT_ICEBERG, REPLACED})


def check_not_borrowed(
    spark: SparkSession, borrowers: Sequence[Borrower], *, table: str, place: LakePath
) -> None:
    """Refuse where one of some tables names a file below a place.

    Raises:
        RuleViolation: `removal.borrowed`, also where one of them cannot be read.
    """
    for one in borrowers:
        name = f"{one.db}.{one.table}"
        try:
            other = open_table(spark, one.db, one.table, uuid=one.uuid)
            with clear_errors(name):
                path = bare_column(F.col("file_path"))
                files = metadata_rows(other, other.java, "ALL_FILES")
                found = files.where(path.startswith(place.path + "/")).select("file_path").first()
        except PortalError as error:
            if error.code in _NOT_THERE:
                continue
            raise _refused(
                table, f"{name} may use files of it, and cannot be read: {error.message}"
            ) from error
        if found is not None:
            raise _refused(table, f"{name} uses files of it, one of them {found[0]}.")


def _refused(table: str, words: str) -> RuleViolation:
    return RuleViolation(
        "removal.borrowed",
        f"Nothing is removed from {table}: {words} Write those rows into files of its own "
        "(rewrite_data_files), or drop it.",
    )
