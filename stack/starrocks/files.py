"""Size of the files below a table's or partition's location. Hidden ones do not count."""

from functools import lru_cache

from portal.connectors.file_status import FileSystem
from portal.connectors.hdfs_filesystem import HdfsFileSystem
from portal.connectors.local_filesystem import LocalFileSystem
from portal.lake.errors import ExternalFailure, NotVisible, RuleViolation
from portal.lake.paths import LakePath
from stack.starrocks.hive import HiveError
from stack.starrocks.spec import Access


def file_bytes(location: str, access: Access) -> int:
    """Add up a folder and all below it; 0 where there is none, or on a system unknown here."""
    try:
        root = LakePath.parse(location)
        found = list(_file_system(root.scheme, root.authority, access).walk(root))
    except (NotVisible, RuleViolation):
        return 0
    except ExternalFailure as error:
        raise HiveError(str(error)) from error
    return sum(one.size for one in found if not one.is_dir and not _is_hidden(one.path, root))


def _is_hidden(path: LakePath, root: LakePath) -> bool:
    return any(name.startswith(("_", ".")) for name in path.segments[len(root.segments) :])


@lru_cache
def _file_system(scheme: str, authority: str, access: Access) -> FileSystem:
    if scheme == "file":
        return LocalFileSystem()
    if scheme == "hdfs":
        settings = dict(access.hadoop_conf)
        return HdfsFileSystem(authority, settings=settings, kerberos=access.kerberos)
    raise RuleViolation("fs.unsupported", f"The simulator reads no {scheme}:// files.")
