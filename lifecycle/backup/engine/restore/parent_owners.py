"""Tells which directories above restored items could not be given back to their owner.

A missing directory is made by the portal's account, and only a superuser may give one away. Where
the file system does not say whose one is, it is told as one that the account may own: what was
restored is there, and a restore does not end for it.
"""

from collections.abc import Iterable

from lifecycle.backup.engine.journal.records import FileFact, ItemIntent
from lifecycle.backup.engine.restore.target import parents_above
from portal.connectors.file_status import FileSystem
from portal.lake.errors import PortalError
from portal.lake.paths import LakePath


def kept_directories(
    fs: FileSystem, backup: LakePath, items: Iterable[ItemIntent], *, location: LakePath | None
) -> dict[str, str]:
    """Return what to say of each item below a directory that the portal's account still owns.

    The account is that of the directory `backup`, which only the portal writes.
    """
    account, reason = _owner(fs, backup)
    seen: dict[str, str] = {}
    said: dict[str, str] = {}
    for item in items:
        for fact in parents_above(item, location):
            if fact.owner != account and fact.path not in seen and (account or reason):
                seen[fact.path] = _kept(fs, fact, account=account, reason=reason)
            if note := seen.get(fact.path):
                said.setdefault(item.item, note)
    return said


def _owner(fs: FileSystem, path: LakePath) -> tuple[str, str]:
    """Return who owns a path, empty where it is not there, and why nobody can say."""
    try:
        found = fs.status(path)
    except PortalError as error:
        return "", error.message.rstrip(".")
    return (found.owner, "") if found is not None else ("", "")


def _kept(fs: FileSystem, fact: FileFact, *, account: str, reason: str) -> str:
    path = LakePath.parse(fact.path)
    owner, unknown = ("", reason) if reason else _owner(fs, path)
    command = "hdfs dfs -chown" if path.scheme == "hdfs" else "chown"
    place = path if path.scheme == "hdfs" else path.path
    step = f"run `{command} {fact.owner}:{fact.group} '{place}'`"
    if unknown:
        return (
            f"{path} may have been missing and belong to the portal's account now ({unknown}): "
            f"if it does, {step}"
        )
    if owner != account:
        return ""
    return (
        f"{path} was missing and belongs to {account} now, since only a superuser may give it "
        f"back: {step}"
    )
