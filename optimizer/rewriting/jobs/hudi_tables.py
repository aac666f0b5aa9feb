"""Reads what rewriting must know of a Hudi table: its newest commit and its columns."""

from pyspark.sql import SparkSession

from optimizer.hudi.tables.jobs.errors import clear_errors
from optimizer.hudi.tables.jobs.table import open_table, use_hudi
from optimizer.rewriting.domain.facts import HUDI, TableFacts
from portal.spark.job import JobContext

_META = "_hoodie_"


def hudi_facts(spark: SparkSession, job: JobContext, name: str, location: str) -> TableFacts:
    """Read one table at its place.

    Raises:
        PortalError: it is gone, or no Hudi table.
    """
    use_hudi(spark, lake=str(job.config.lake))
    place = location.rstrip("/")
    table = open_table(spark, name, place, lake_zone=job.config.zone)
    with clear_errors(name):
        commits = table.java.getActiveTimeline().getCommitsTimeline().filterCompletedInstants()
        newest = commits.lastInstant()
        schema = spark.read.format("hudi").load(place).schema
    columns = {
        one.name.lower(): one.dataType.simpleString()
        for one in schema.fields
        if not one.name.startswith(_META)
    }
    instant = int(newest.get().requestedTime()) if newest.isPresent() else None
    return TableFacts(name, place, instant, place, columns, format=HUDI)
