"""Tells which directories above restored items could not be given back to their owner.

A missing directory is made by the portal's account, and only a superuser may give one away.
"""

from collections.abc import Iterable

from lifecycle.backup.engine.journal.records import FileFact, ItemIntent
from lifecycle.backup.engine.restore.target import parents_above
from portal.connectors.file_status import FileStatus, FileSystem
from portal.lake.paths import LakePath


def kept_directories(
    fs: FileSystem, backup: LakePath, items: Iterable[ItemIntent], *, location: LakePath | None
) -> dict[str, str]:
    """Return what to say of each item below a directory that the portal's account still owns.

    The account is that of the directory `backup`, which only the portal writes.
    """
    own = fs.status(backup)
    seen: dict[str, str] = {}
    said: dict[str, str] = {}
    for item in items:
        for fact in parents_above(item, location):
            if own is not None and fact.owner != own.owner and fact.path not in seen:
                path = LakePath.parse(fact.path)
                seen[fact.path] = _kept(path, fs.status(path), fact, account=own.owner)
            if note := seen.get(fact.path):
                said.setdefault(item.item, note)
    return said


def _kept(path: LakePath, found: FileStatus | None, fact: FileFact, *, account: str) -> str:
    if found is None or found.owner != account:
        return ""
    command = "hdfs dfs -chown" if path.scheme == "hdfs" else "chown"
    place = path if path.scheme == "hdfs" else path.path
    return (
        f"{path} was missing and belongs to {account} now, since only a superuser may give it "
        f"back: run `{command} {fact.owner}:{fact.group} '{place}'`"
    )
