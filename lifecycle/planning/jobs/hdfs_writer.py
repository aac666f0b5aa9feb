"""Writes an acting job's small files on HDFS by the JVM's client, which closes them at once.

hdfs-native asks the NameNode to close a file before the DataNode has told it of the last block, and
waits half a second until it asks again: with two files of the journal a batch that was two fifths
of a drop. Hadoop's own client does the same, but its wait can be set (`portal.spark.launch`).
"""

from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError

from portal.connectors.file_status import FileSystem
from portal.connectors.hdfs_filesystem import HdfsFileSystem, Writer
from portal.lake.paths import LakePath
from portal.spark.job import JobContext

_BUFFER = 4096
_MODE = "600"


def with_quick_writes(job: JobContext, fs: FileSystem) -> FileSystem:
    """Return the file system with writes by the driver's JVM; one that is not HDFS stays as is."""
    return fs.with_writer(jvm_writer(job)) if isinstance(fs, HdfsFileSystem) else fs


def jvm_writer(job: JobContext) -> Writer:
    """Return what writes a new file through the driver's JVM, on the disks of its DataNodes."""
    jvm: Any = job.spark.sparkContext._jvm
    hadoop: Any = job.spark.sparkContext._jsc.hadoopConfiguration()
    make = jvm.org.apache.hadoop.fs.Path
    flags = jvm.java.util.EnumSet.of(jvm.org.apache.hadoop.fs.CreateFlag.CREATE)
    mode = jvm.org.apache.hadoop.fs.permission.FsPermission(_MODE)

    def write(path: LakePath, data: bytes) -> None:
        place = make(str(path))
        system = place.getFileSystem(hadoop)
        stream = system.createNonRecursive(
            place,
            mode,
            flags,
            _BUFFER,
            system.getDefaultReplication(place),
            system.getDefaultBlockSize(place),
            None,
        )
        try:
            stream.write(bytearray(data))
            if data:
                stream.hsync()
        finally:
            stream.close()

    def write_or_say(path: LakePath, data: bytes) -> None:
        try:
            write(path, data)
        except Py4JJavaError as error:
            raise _as_python(error) from error
        except Py4JError as error:
            job.check_jvm()
            raise OSError(f"the driver's JVM did not write {path}: {error}") from error

    return write_or_say


def _as_python(error: Py4JJavaError) -> OSError:
    """Return a refusal of the NameNode as the error that Python has for it."""
    said = str(error.java_exception.toString()).splitlines()[0]
    kind = said.partition(":")[0].rpartition(".")[2]
    known = {
        "FileNotFoundException": FileNotFoundError,
        "FileAlreadyExistsException": FileExistsError,
        "AccessControlException": PermissionError,
    }
    return known.get(kind, OSError)(said)
