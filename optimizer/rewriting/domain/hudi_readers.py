"""Says which Hudi tables an engine reads as Spark does: by table version and by log files."""

from dataclasses import dataclass

from optimizer.rewriting.domain.facts import TableFacts


@dataclass(frozen=True)
class HudiReader:
    """What an engine's catalog of Hudi tables can read.

    Spark computes a materialization from all rows of its sources. An engine that reads fewer would
    have another answer of its own, and one that cannot open the materialization's table none.
    """

    catalog: str
    newest_version: int
    """The newest hoodie.table.version that it can open."""
    reads_logs: bool = False
    """Whether it merges the log files of merge-on-read tables into what it reads."""

    def problem(self, table: TableFacts) -> str:
        """Say why the engine does not read a table as Spark does; empty: it does."""
        if table.version > self.newest_version:
            return (
                f"{table.name} has the table version {table.version}, and the catalog "
                f"{self.catalog} reads Hudi tables up to version {self.newest_version}"
            )
        if table.has_logs and not self.reads_logs:
            return (
                f"{table.name} has rows in log files, which the catalog {self.catalog} does not "
                "read before a compaction"
            )
        return ""
