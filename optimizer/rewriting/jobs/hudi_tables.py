"""Reads what rewriting must know of a Hudi table: its newest commit and its columns."""

from pyspark.sql import SparkSession

from optimizer.hudi.tables.jobs.errors import clear_errors
from optimizer.hudi.tables.jobs.table import OpenedTable, open_table, use_hudi
from optimizer.rewriting.domain.facts import HUDI, TableFacts
from portal.spark.job import JobContext

_META = "_hoodie_"


def hudi_facts(spark: SparkSession, job: JobContext, name: str, location: str) -> TableFacts:
    """Read one table at its place.

    Raises:
        PortalError: it is gone, or no Hudi table.
    """
    use_hudi(spark, lake=str(job.config.lake))
    table = open_table(spark, name, location, lake_zone=job.config.zone)
    return facts_of(spark, table, newest_commit(table))


def newest_commit(table: OpenedTable) -> int | None:
    """Return the newest completed commit of a table; None: it has none."""
    with clear_errors(table.name):
        commits = table.java.getActiveTimeline().getCommitsTimeline().filterCompletedInstants()
        newest = commits.lastInstant()
    return int(newest.get().requestedTime()) if newest.isPresent() else None


def facts_of(spark: SparkSession, table: OpenedTable, commit: int | None) -> TableFacts:
    """Read the columns of an opened table, whose newest commit is known."""
    with clear_errors(table.name):
        schema = spark.read.format("hudi").load(table.location).schema
    columns = {
        one.name.lower(): one.dataType.simpleString()
        for one in schema.fields
        if not one.name.startswith(_META)
    }
    place = table.location
    return TableFacts(table.name, place, commit, place, columns, format=HUDI)
