"""Which adapter serves a path: local files or HDFS; anything else is scanned, never acted on."""

from portal.connectors.file_status import FileStatus, FileSystem
from portal.connectors.hdfs_filesystem import HdfsFileSystem
from portal.connectors.lake_config import LakeConfig
from portal.connectors.local_filesystem import LocalFileSystem
from portal.lake.errors import RuleViolation
from portal.lake.paths import LakePath

__all__ = ["FileStatus", "FileSystem", "open_file_system"]


def open_file_system(path: LakePath, *, config: LakeConfig, acls: bool = True) -> FileSystem:
    """Return the file system on which `path` lies.

    Who needs no ACLs says so: on HDFS each costs a call a file.

    Raises:
        RuleViolation: `fs.unsupported` for a scheme that has no atomic rename (object stores).
    """
    if path.scheme == "file":
        return LocalFileSystem()
    if path.scheme == "hdfs":
        return HdfsFileSystem(
            path.authority,
            user=config.hadoop_user,
            acls=acls,
            settings=config.hadoop_conf,
            kerberos=config.kerberos,
        )
    raise RuleViolation(
        "fs.unsupported",
        f"{path.scheme}:// has no atomic rename; the portal scans and reports it, but never moves "
        "data on it.",
        scheme=path.scheme,
    )
