"""Reads, writes, lists and renames the small files of the index store, by Hadoop's file systems.

A folder that cannot be written is one clear error, whatever the file system calls it.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from optimizer.iceberg.access.jobs.errors import DISK_FULL, clear_errors, sorted_causes
from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from portal.lake.errors import ExternalFailure, RuleViolation
from portal.spark.java_errors import JAVA_ERRORS, causes_of

NOT_WRITABLE = "index.not_writable"
_CHUNK = 1 << 22
_OVER_ANOTHER = _RECURSIVELY = False


@dataclass(frozen=True, slots=True)
class Listed:
    """One file of a folder."""

    name: str
    n_bytes: int
    written_at: datetime


class HadoopFiles:
    """The file system below one folder of a table."""

    def __init__(self, table: IcebergTable, root: str) -> None:
        self._table = table
        self._root = root
        self._path: Any = table.jvm.org.apache.hadoop.fs.Path
        conf = table.spark.sparkContext._jsc.hadoopConfiguration()
        with clear_errors(table.name):
            self._fs: Any = self._path(root).getFileSystem(conf)

    def make_folders(self, *names: str) -> None:
        """Create folders below the root; those that are there stay.

        Raises:
            RuleViolation: `index.not_writable`; ExternalFailure: `iceberg.disk_full`.
        """
        with self._writing():
            for name in names:
                if not self._fs.mkdirs(self._at(name)):
                    raise self._refused("the folder cannot be created.")

    def list(self, folder: str) -> list[Listed]:
        """Return the files of a folder; one that does not exist has none."""
        with clear_errors(self._table.name):
            at = self._at(folder)
            found = self._fs.listStatus(at) if self._fs.exists(at) else ()
            return [
                Listed(
                    str(one.getPath().getName()),
                    int(one.getLen()),
                    datetime.fromtimestamp(one.getModificationTime() / 1000, UTC),
                )
                for one in found
                if one.isFile()
            ]

    def read(self, name: str) -> bytes:
        """Return the bytes of a file."""
        with clear_errors(self._table.name):
            stream = self._fs.open(self._at(name))
            try:
                return bytes(stream.readAllBytes())
            finally:
                stream.close()

    def write(self, name: str, parts: Iterable[bytes]) -> None:
        """Write a new file; on failure nothing of it stays.

        Raises:
            RuleViolation: `index.not_writable`; ExternalFailure: `iceberg.disk_full`.
        """
        at = self._at(name)
        try:
            with self._writing():
                stream = self._fs.create(at, _OVER_ANOTHER)
                try:
                    for part in parts:
                        for start in range(0, len(part), _CHUNK):
                            stream.write(part[start : start + _CHUNK])
                finally:
                    stream.close()
        except BaseException:
            self.delete(name)
            raise

    def rename(self, source: str, target: str) -> None:
        """Give a file its final name, which nobody else has."""
        with self._writing():
            if not self._fs.rename(self._at(source), self._at(target)):
                raise self._refused("a file cannot be renamed.")

    def delete(self, name: str) -> None:
        """Delete a file; that it is gone already, or cannot be deleted, is nobody's failure."""
        try:
            self._fs.delete(self._at(name), _RECURSIVELY)
        except JAVA_ERRORS:
            return

    def _at(self, name: str) -> Any:
        return self._path(f"{self._root}/{name}")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except JAVA_ERRORS as error:
            causes = causes_of(error)
            sorted_one = sorted_causes(causes, self._table.name)
            if sorted_one is not None and sorted_one.code == DISK_FULL:
                raise ExternalFailure(
                    DISK_FULL,
                    f"{self._table.name}: there is no room for its indexes; nothing of this step "
                    "was published. Make room or raise the quota.",
                    service="storage",
                    retryable=True,
                    table=self._table.name,
                ) from error
            name, text = causes[-1] if causes else ("", str(error))
            raise self._refused(f"{name.rpartition('.')[2]}: {text.splitlines()[0]}") from error

    def _refused(self, why: str) -> RuleViolation:
        return RuleViolation(
            NOT_WRITABLE,
            f"{self._table.name}: indexes cannot be written below {self._root}: {why} Allow the "
            "portal's account to write there, or take index_columns out of the table's policy.",
            table=self._table.name,
        )
