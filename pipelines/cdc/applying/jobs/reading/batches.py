"""Where the program reads a changelog's batches: one port for files, Kafka and plain topics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipelines.cdc.changes.connectors.directory_log import batch_numbers
from portal.connectors.file_status import FileSystem
from portal.lake.errors import ExternalFailure, NotVisible
from portal.lake.paths import LakePath

FOREIGN = 0
"""Number of records that stand in a changelog and belong to none of its batches."""


class Batches(Protocol):
    """The batches of one changelog as it is now, in the lines of `changes.domain.records`."""

    @property
    def keeps_bad(self) -> bool:
        """Whether a line that is no record is kept aside: in Kafka nobody can repair it."""

    def numbers(self) -> list[int]:
        """Return the numbers of the batches that are there, in order.

        Raises:
            ExternalFailure: it cannot be reached; it is tried again.
        """

    def lines(self, numbers: Sequence[int]) -> DataFrame:
        """Return `number` and `value`, a line a row, of batches that follow each other.

        Where bad lines are kept, `topic`, `partition` and `offset` too.

        Raises:
            StaleState: `cdc.changelog_expired`, the changelog has not all of them any more.
        """

    def told(self) -> Mapping[str, int]:
        """Return fields of the pipeline's report that only this kind of changelog knows."""

    def forget(self, number: int) -> None:
        """Forget the batches up to a number, which every table has."""

    def close(self) -> None:
        """Let go of connections."""


@dataclass(frozen=True)
class DirectoryBatches:
    """Batches in the files that `DirectoryLog` writes."""

    spark: SparkSession
    fs: FileSystem
    folder: LakePath
    keeps_bad: bool = False

    def numbers(self) -> list[int]:
        """Return the numbers of the batches that are there, in order."""
        try:
            return batch_numbers(self.fs.names(self.folder))
        except NotVisible as error:
            raise ExternalFailure(
                "cdc.no_changelog",
                f"{self.folder} has no changelog yet; it is looked for again.",
                service="storage",
                retryable=True,
            ) from error

    def lines(self, numbers: Sequence[int]) -> DataFrame:
        """Return the lines of some files."""
        files = [str(self.folder.child(f"{number:020}.jsonl")) for number in numbers]
        number = F.regexp_extract(F.col("_metadata.file_name"), r"^(\d{20})", 1)
        reader = self.spark.read.format("text").option("lineSep", "\n")
        return reader.load(files).select(number.cast("bigint").alias("number"), "value")

    def told(self) -> Mapping[str, int]:
        """Know nothing more."""
        return {}

    def forget(self, number: int) -> None:
        """Remember nothing."""

    def close(self) -> None:
        """Hold no connection."""
