"""Checks what on HDFS prevents renaming a writable directory into a backup root.

A rename never leaves an encryption zone, and a directory with snapshots is never moved. Both are
asked of the NameNode for each item before anything moves, so that the reason is said in words.
"""

from collections.abc import Callable
from typing import Any

from portal.lake.paths import LakePath
from portal.spark.job import JobContext

Barrier = Callable[[LakePath], str | None]


def barrier_check(job: JobContext, root: LakePath) -> Barrier:
    """Return a check that says why a directory cannot go into `root`; None where nothing hinders.

    Costs two calls a directory on HDFS; elsewhere there are no such barriers. A directory that is
    not there has none.
    """
    if root.scheme != "hdfs":
        return lambda _path: None
    jvm: Any = job.spark.sparkContext._jvm
    make = jvm.org.apache.hadoop.fs.Path
    system = make(str(root)).getFileSystem(job.spark.sparkContext._jsc.hadoopConfiguration())

    def zone_of(path: LakePath) -> str:
        zone = system.getEZForPath(make(str(path)))
        return "" if zone is None else str(zone.getPath())

    home = zone_of(root)

    def barrier(path: LakePath) -> str | None:
        place = make(str(path))
        if not path.same_file_system(root) or not system.exists(place):
            return None
        if system.getFileStatus(place).isSnapshotEnabled():
            return (
                "its directory is snapshottable, and HDFS moves no directory that has snapshots; "
                "delete them and disallow snapshots there, or keep it for ever"
            )
        zone = zone_of(path)
        if zone == home:
            return None
        return (
            f"it is in {_zone(zone)}, the backup root {root} in {_zone(home)}, and a rename "
            "never leaves an encryption zone; name a backup root inside the same zone in lakes.json"
        )

    return barrier


def _zone(path: str) -> str:
    return f"the encryption zone {path}" if path else "no encryption zone"
