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


def with_quick_writes(job: JobContext, fs: FileSystem, somewhere: LakePath) -> FileSystem:
    """Return the file system of `somewhere` with writes by the driver's JVM; local files as is."""
    return fs.with_writer(jvm_writer(job, somewhere)) if isinstance(fs, HdfsFileSystem) else fs


def jvm_writer(job: JobContext, somewhere: LakePath) -> Writer:
    """Return what writes a new file through the driver's JVM, on the disks of its DataNodes.

    All files go to the file system of `somewhere`, as the lake's user.
    """
    jvm: Any = job.spark.sparkContext._jvm
    make = jvm.org.apache.hadoop.fs.Path
    flags = jvm.java.util.EnumSet.of(jvm.org.apache.hadoop.fs.CreateFlag.CREATE)
    mode = jvm.org.apache.hadoop.fs.permission.FsPermission(_MODE)
    system = _system(job, make(str(somewhere)))
    block_size = system.getDefaultBlockSize(make(str(somewhere)))
    replication = system.getDefaultReplication(make(str(somewhere)))

    def write(path: LakePath, data: bytes) -> None:
        stream = system.createNonRecursive(
            make(str(path)), mode, flags, _BUFFER, replication, block_size, None
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


def _system(job: JobContext, place: Any) -> Any:
    """Return Hadoop's file system of a place: the session's own where that is the lake's user."""
    jvm: Any = job.spark.sparkContext._jvm
    hadoop: Any = job.spark.sparkContext._jsc.hadoopConfiguration()
    user, session = job.config.hadoop_user, jvm.org.apache.hadoop.security.UserGroupInformation
    if job.config.kerberos is not None:  # the session has logged in as nobody else
        return place.getFileSystem(hadoop)
    if user is None or session.getCurrentUser().getShortUserName() == user:
        return place.getFileSystem(hadoop)
    return jvm.org.apache.hadoop.fs.FileSystem.get(place.toUri(), hadoop, user)


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
