"""Refuses to write into a table whose own account could not read what is written.

The folder's status and ACL come from the file system, the account's groups from the NameNode, which
is who judges by them; elsewhere from the machine.
"""

from typing import Any

from pyspark.sql import SparkSession

from optimizer.core.domain.file_readers import READ, SEARCH, NewFiles, may_read, needs_groups
from portal.lake.errors import RuleViolation
from portal.spark.java_errors import JAVA_ERRORS

UNREADABLE = "table.unreadable_for_owner"
_SUPERUSERS = "dfs.permissions.superusergroup"


def check_owner_reads(spark: SparkSession, location: str, table: str, *, below: str) -> None:
    """Let a run go on where the table's account will read its files; one look at the file system.

    `below` is the folder of the table in which every commit writes. A folder that cannot be looked
    at passes: the run will say what is wrong with it.

    Raises:
        RuleViolation: `table.unreadable_for_owner`.
    """
    jvm: Any = spark.sparkContext._jvm
    context: Any = spark.sparkContext
    conf = context._jsc.hadoopConfiguration()
    path = jvm.org.apache.hadoop.fs.Path(f"{location}/{below}")
    try:
        system = path.getFileSystem(conf)
        files = _new_files(jvm, system, path)
    except JAVA_ERRORS:
        return
    if not needs_groups(files):
        return
    groups = _groups(jvm, system, files.owner)
    if may_read(files, groups, superusers=str(conf.get(_SUPERUSERS, "supergroup"))):
        return
    known = f"is not in its group {files.group}"
    if groups is None:
        known = "may not be in its group: the groups of the account cannot be asked for"
    raise RuleViolation(
        UNREADABLE,
        f"{table}: nothing was written, because the table's account {files.owner} could not read "
        f"files of {files.writer}: others may not read below {location}, and {files.owner} "
        f"{known}. Run `hdfs dfs -setfacl -R -m default:user:{files.owner}:rwx {location}`, or let "
        f"the portal run as {files.owner}; the next task tries again.",
        table=table,
    )


def _new_files(jvm: Any, system: Any, path: Any) -> NewFiles:
    """Read what new files below a folder will allow: by its default ACL, else by the umask."""
    status = system.getFileStatus(path)
    users = jvm.org.apache.hadoop.security.UserGroupInformation
    permissions = jvm.org.apache.hadoop.fs.permission
    denied = permissions.FsPermission.getUMask(system.getConf()).toShort()
    bits = {"GROUP": ~(denied >> 3) & 7, "OTHER": ~denied & 7}
    named = set()
    entries = [one for one in _acl(system, path) if str(one.getScope()) == "DEFAULT"]
    mask = next((_bits(one) for one in entries if str(one.getType()) == "MASK"), 7)
    for entry in entries:
        kind, name = str(entry.getType()), entry.getName()
        if kind == "USER" and name and _bits(entry) & mask & (READ | SEARCH) == READ | SEARCH:
            named.add(str(name))
        if kind in bits and not name:
            bits[kind] = _bits(entry) & (mask if kind == "GROUP" else 7)
    return NewFiles(
        owner=str(status.getOwner() or ""),
        writer=str(users.getCurrentUser().getShortUserName()),
        group=str(status.getGroup() or ""),
        for_group=bits["GROUP"],
        for_others=bits["OTHER"],
        named=frozenset(named),
    )


def _acl(system: Any, path: Any) -> list[Any]:
    try:
        return list(system.getAclStatus(path).getEntries())
    except JAVA_ERRORS:  # Local files and object stores have no ACLs.
        return []


def _bits(entry: Any) -> int:
    return int(entry.getPermission().ordinal())


def _groups(jvm: Any, system: Any, account: str) -> frozenset[str] | None:
    try:
        return frozenset(map(str, jvm.lakewarden.spark.AccountGroups.of(system, account)))
    except JAVA_ERRORS:
        return None
