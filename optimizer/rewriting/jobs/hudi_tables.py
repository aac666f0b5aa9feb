"""Reads what rewriting must know of a Hudi table: its commits, columns and log files."""

from typing import Any

from pyspark.sql import SparkSession

from optimizer.hudi.inspect.domain.facts import TableType
from optimizer.hudi.tables.jobs.errors import clear_errors
from optimizer.hudi.tables.jobs.table import HUDI as JAVA_HUDI
from optimizer.hudi.tables.jobs.table import OpenedTable, open_table, use_hudi
from optimizer.rewriting.domain.facts import HUDI, TableFacts
from portal.lake.formats import HUDI_SAME_ROWS
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


def n_commits(table: OpenedTable) -> int:
    """Return how many completed commits the active timeline has.

    A service that was requested before the newest commit and is done after it changes just that.
    """
    with clear_errors(table.name):
        commits = table.java.getActiveTimeline().getCommitsTimeline().filterCompletedInstants()
        return int(commits.countInstants())


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
    return TableFacts(
        table.name,
        place,
        commit,
        place,
        columns,
        format=HUDI,
        version=table.version,
        same_rows=_same_rows(table),
    )


def _same_rows(table: OpenedTable) -> tuple[int, ...]:
    """Return the newest commit that changed rows, and those of services since."""
    found: list[int] = []
    with clear_errors(table.name):
        done = table.java.getActiveTimeline().getCommitsTimeline().filterCompletedInstants()
        for instant in done.getReverseOrderedInstants().iterator():
            found.append(int(instant.requestedTime()))
            if str(done.readCommitMetadata(instant).getOperationType()) not in HUDI_SAME_ROWS:
                return tuple(found)
    # What changed rows last is archived: nothing is known of the commits before these.
    return tuple(found)


def has_logs(table: OpenedTable, commit: int | None) -> bool:
    """Whether rows are in log files that no compaction has merged yet.

    It lists all files of a merge-on-read table.
    """
    if commit is None or table.table_type is TableType.COPY_ON_WRITE:
        return False
    hudi, columns = table.hudi, table.columns
    files = columns.step(f"{JAVA_HUDI}.model.FileSlice", "getLogFiles")
    count = columns.step("java.util.stream.Stream", "count")
    has_metadata = False  # what Hudi's own index of files says may be behind
    settings = hudi.common.config.HoodieMetadataConfig.newBuilder().enable(has_metadata).build()
    with clear_errors(table.name):
        view: Any = hudi.common.table.view.FileSystemViewManager.createInMemoryFileSystemView(
            table.engine, table.java, settings
        )
        try:
            view.loadAllPartitions()
            for path in view.getPartitionNames():
                found = table.listed(
                    view.getLatestMergedFileSlicesBeforeOrOn(str(path), str(commit))
                )
                if any(int(n) for n in columns.read(found, files, count)):
                    return True
        finally:
            view.close()
    return False
