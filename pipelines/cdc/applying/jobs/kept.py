"""Folders of Parquet beside a table: records that wait, records in quarantine, values kept aside.

Files are only added, and removed once what they hold stands elsewhere. A file that is written twice
after a crash does no harm, because whoever reads knows records by key and version.
"""

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from portal.connectors.file_status import FileStatus, FileSystem
from portal.lake.errors import NotVisible
from portal.lake.paths import LakePath

_PRIVATE = 0o700
_FILE = ".parquet"


@dataclass(frozen=True)
class KeptFiles:
    """One folder, for admins alone."""

    spark: SparkSession
    fs: FileSystem
    path: LakePath

    def add(self, rows: DataFrame, *, by: tuple[str, ...] = ()) -> None:
        """Add rows as one file, or one for each value of `by`."""
        self.fs.make_directories(self.path, mode=_PRIVATE)
        rows.coalesce(1).write.mode("append").partitionBy(*by).parquet(str(self.path))

    def files(self) -> list[LakePath]:
        """Return the files that are there."""
        return [one.path for one in self._statuses()]

    def remove_before(self, mtime_ms: int) -> int:
        """Remove files that were written before an instant; returns how many."""
        old = [one.path for one in self._statuses() if one.mtime_ms < mtime_ms]
        self.remove(old)
        return len(old)

    def read(self, files: list[LakePath]) -> DataFrame:
        """Read some of the files."""
        reader = self.spark.read.option("basePath", str(self.path))
        # A column's name that looks like a number stays a text.
        return reader.parquet(*map(str, files))

    def remove(self, files: list[LakePath]) -> None:
        """Remove files whose rows stand elsewhere now."""
        for file in files:
            self.fs.remove_file(file)

    def _statuses(self) -> list[FileStatus]:
        try:
            found = self.fs.walk(self.path)
            return [one for one in found if not one.is_dir and _is_whole(one.path, self.path)]
        except NotVisible:
            return []


def _is_whole(file: LakePath, folder: LakePath) -> bool:
    below = str(file).removeprefix(str(folder)).split("/")
    return file.name.endswith(_FILE) and not any(one.startswith(("_", ".")) for one in below)
