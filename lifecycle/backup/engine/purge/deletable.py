"""Says before a purge begins whether the portal's account may delete all that is in a backup.

What was moved keeps the rights of its owner. A purge that is refused in the middle would leave
a backup that can neither be restored nor purged.
"""

from collections.abc import Sequence

from lifecycle.backup.engine.journal.records import ItemIntent
from lifecycle.backup.engine.protocol import Tools
from portal.connectors.file_status import REFUSED
from portal.lake.errors import PortalError
from portal.lake.paths import LakePath


def below(home: LakePath, path: str) -> LakePath:
    """Return a listed path: names may hold what LakePath.child refuses."""
    return LakePath(home.scheme, home.authority, f"{home.path}/{path}" if path else home.path)


def undeletable(directory: LakePath, items: Sequence[ItemIntent], tools: Tools) -> str | None:
    """Return why a directory's content may not be deleted, by the file system's answer, or None.

    HDFS lets only those set a directory's time who may write in it: each directory gets the time
    that it has. Elsewhere the system's own owner of the files is asked for, who is the portal.
    """
    for item in items:
        home = directory.child(item.item)
        for fact in item.files:
            path = below(home, fact.path)
            if not fact.is_dir or path.scheme != "hdfs" or tools.fs.status(path) is None:
                continue
            try:
                tools.fs.set_modified(path, fact.mtime_ms)
            except PortalError as error:
                if error.code != REFUSED:
                    raise
                return f"its files may not be deleted: {error.message}"
    return None
