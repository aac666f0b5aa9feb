"""Copies a backup's files for a restore test, reads every byte, and reads their rows.

Bytes are read through Hadoop's own client, which verifies the checksums that the file system keeps
beside the data. Copies are new files: nothing here moves, changes or removes one. When a file was
last read is put back, or data that comes back one day would look as if somebody recently read it.
"""

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Observation, SparkSession
from pyspark.sql.functions import count, lit

from lifecycle.backup.engine.journal.records import FileFact
from lifecycle.backup.jobs.restore_files import NO
from portal.lake.formats import Supported, judge_table
from portal.lake.paths import LakePath

# Spark reads these with the readers it uses for such tables of a Hive catalogue, too.
_COLUMNAR = ("parquet", "orc")
_LINES = ("text", "csv", "json")
_MODE = 0o700


class UnreadableError(Exception):
    """Bytes or rows cannot be read, and why."""


class Files:
    """The files of one file system, as the JVM of this driver sees them."""

    def __init__(self, spark: SparkSession, root: LakePath) -> None:
        self._jvm: Any = spark.sparkContext._jvm
        self._conf: Any = spark.sparkContext._jsc.hadoopConfiguration()
        self._is_local = root.scheme == "file"
        self._fs: Any = self._path(str(root)).getFileSystem(self._conf)

    def digest(self, path: str) -> str:
        """Read a whole file, its checksums verified, and give its sha256."""
        try:
            stream = self._fs.open(self._path(path))
            try:
                return str(self._jvm.org.apache.commons.codec.digest.DigestUtils.sha256Hex(stream))
            finally:
                stream.close()
        except Py4JJavaError as error:
            raise UnreadableError(_said(error)) from error

    def copy(self, source: str, target: str) -> None:
        """Copy one file to a new one."""
        if self._is_local:
            # Hadoop's view of local files hides some of them, and the manifest knows all.
            try:
                shutil.copyfile(_local(source), _local(target), follow_symlinks=False)
            except OSError as error:
                raise UnreadableError(str(error)) from error
            return
        util = self._jvm.org.apache.hadoop.fs.FileUtil
        one, other = self._path(source), self._path(target)
        try:
            util.copy(self._fs, one, self._fs, other, NO, NO, self._conf)
        except Py4JJavaError as error:
            raise UnreadableError(_said(error)) from error

    def make_directory(self, path: str) -> None:
        """Make a directory and what is missing above it."""
        if self._is_local:
            _local(path).mkdir(mode=_MODE, parents=True, exist_ok=True)
        else:
            self._fs.mkdirs(self._path(path))

    def copy_tree(self, source: LakePath, target: LakePath, facts: Iterable[FileFact]) -> str:
        """Copy an item, prove that the copies hold what was read, and give one sha256 of it all."""
        whole = hashlib.sha256()
        for fact in sorted(facts):
            one, other = _below(source, fact.path), _below(target, fact.path)
            if fact.is_dir:
                self.make_directory(other)
                continue
            if self._is_local and _local(one).is_symlink():
                self.copy(one, other)  # the link itself; what it points to is no backup
                continue
            read = self.digest(one)
            self.copy(one, other)
            if self.digest(other) != read:
                raise UnreadableError(f"{fact.path}: its copy holds other bytes than were read")
            whole.update(f"{fact.path}\0{read}\n".encode())
        return whole.hexdigest()

    @contextmanager
    def unread(self, home: LakePath, facts: Sequence[FileFact]) -> Iterator[list[str]]:
        """Put back when each file of an item was last read; the list names those that refused.

        The checksum files among them, which Hadoop reads with theirs.
        """
        refused: list[str] = []
        paths = [_below(home, fact.path) for fact in facts if not fact.is_dir]
        before = {path: self._last_read(path) for path in paths}
        try:
            yield refused
        finally:
            for path, at in before.items():
                # Where reading moves nothing there is nothing to set, and HDFS would refuse it.
                if self._last_read(path) != at and not self._set_last_read(path, at):
                    refused.append(path)

    def _last_read(self, path: str) -> int:
        """Return the access time in the file system's own unit; 0 of what is not there."""
        try:
            if self._is_local:
                return _local(path).lstat().st_atime_ns
            return int(self._fs.getFileStatus(self._path(path)).getAccessTime())
        except (OSError, Py4JJavaError):
            return 0

    def _set_last_read(self, path: str, at: int) -> bool:
        try:
            if self._is_local:
                times = (at, _local(path).lstat().st_mtime_ns)
                os.utime(_local(path), ns=times, follow_symlinks=False)
            else:
                self._fs.setTimes(self._path(path), -1, at)  # -1: the time of change stays
        except (OSError, Py4JJavaError):
            return False
        return True

    def _path(self, text: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(text)


def format_of(table: Any) -> str:
    """Name the format of a table's data."""
    found = judge_table(table)
    return found.format if isinstance(found, Supported) else "unknown"


def count_rows(spark: SparkSession, struct: Any, *, file_format: str) -> int | None:
    """Read every column of every row of a registered item; None where no reader is at hand.

    Raises:
        UnreadableError: Spark cannot read it.
    """
    if file_format not in (*_COLUMNAR, *_LINES):
        return None
    try:
        if file_format in _LINES:
            rows = spark.read.text(struct.sd.location)
        else:
            columns = ", ".join(f"`{one.name}` {one.type}" for one in struct.sd.cols)
            rows = spark.read.schema(columns).format(file_format).load(struct.sd.location)
        seen = Observation()
        rows.observe(seen, count(lit(1)).alias("n")).write.format("noop").mode("overwrite").save()
        return int(seen.get["n"])
    except (Py4JJavaError, PySparkException) as error:
        raise UnreadableError(_said(error)) from error


def _said(error: Exception) -> str:
    """Return the innermost cause in one line: the outer ones name tasks and stages only."""
    cause: Any = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    if cause is None:
        return str(error).splitlines()[0][:300]
    while cause.getCause() is not None:
        cause = cause.getCause()
    return str(cause.toString()).splitlines()[0][:300]


def _below(root: LakePath, path: str) -> str:
    return f"{root}/{path}" if path else str(root)


def _local(uri: str) -> Path:
    return Path("/" + uri.removeprefix("file:").lstrip("/"))
