"""Accesses files for a backup's restore program, and resets their owner, mode, ACL and time.

It is put into that program in place of its import, so it needs nothing but Spark either.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from py4j.protocol import Py4JJavaError

ACTIONS = ("---", "--x", "-w-", "-wx", "r--", "r-x", "rw-", "rwx")
XATTRS = ("system.posix_acl_access", "system.posix_acl_default")
# Calls of Java have no names for what they are given.
YES, NO = True, False


class Fact(NamedTuple):
    """One file or directory as the manifest has it; `path` is relative to the item."""

    path: str
    is_dir: bool
    size: int
    mtime_ms: int
    owner: str
    group: str
    mode: int
    acl: tuple[str, ...]


class LocalFiles:
    """Files of this machine, all of them (Hadoop's own view hides checksum files)."""

    def __init__(self, _spark: Any, _uri: str) -> None:
        """Need nothing."""

    def stands(self, uri: str) -> bool:
        """Whether anything is at a place."""
        return os.path.lexists(_local(uri))

    def is_free(self, uri: str) -> bool:
        """Whether nothing, or an empty directory, is at a place."""
        path = _local(uri)
        return not os.path.lexists(path) or (path.is_dir() and not any(path.iterdir()))

    def names(self, uri: str) -> list[str]:
        """List a directory."""
        return sorted(path.name for path in _local(uri).iterdir())

    def read(self, uri: str) -> bytes:
        """Read a file."""
        return _local(uri).read_bytes()

    def write_new(self, uri: str, data: bytes) -> None:
        """Write a file that must not exist, whole or not at all."""
        beside = _local(uri).with_name(f"._{_local(uri).name}")
        beside.write_bytes(data)
        beside.chmod(0o600)
        os.link(beside, _local(uri))
        beside.unlink()

    def walk(self, uri: str) -> Iterator[Fact]:
        """Yield a place and all below it."""
        root = _local(uri)
        pending = [root]
        while pending:
            path = pending.pop()
            fact = self._fact(path, root)
            yield fact
            if fact.is_dir:
                pending.extend(path.iterdir())

    def make_directory(self, uri: str, fact: Fact) -> None:
        """Make one directory as it was."""
        _local(uri).mkdir()
        self.mend(uri, fact, with_time=False)

    def move(self, source: str, target: str) -> None:
        """Move a directory; the system refuses a target that is not empty."""
        _local(source).rename(_local(target))

    def mend(self, uri: str, fact: Fact, *, with_time: bool = True) -> None:
        """Give a file the owner, mode, ACL and time that it had."""
        path = _local(uri)
        owner, group = _number(fact.owner, "pwd"), _number(fact.group, "grp")
        with _said(f"the owner of {uri}"):
            os.chown(path, owner, group, follow_symlinks=False)
        if path.is_symlink():
            return
        path.chmod(fact.mode)
        for name, value in (entry.split("=", 1) for entry in fact.acl):
            with _said(f"the ACL of {uri}"):
                os.setxattr(path, name, bytes.fromhex(value))
        if with_time:
            os.utime(path, ns=(path.stat().st_atime_ns, fact.mtime_ms * 1_000_000))

    def _fact(self, path: Path, root: Path) -> Fact:
        found = path.lstat()
        is_dir = stat.S_ISDIR(found.st_mode)
        return Fact(
            str(path)[len(str(root)) :].lstrip("/"),
            is_dir,
            0 if is_dir else found.st_size,
            found.st_mtime_ns // 1_000_000,
            _name(found.st_uid, "pwd"),
            _name(found.st_gid, "grp"),
            stat.S_IMODE(found.st_mode),
            () if stat.S_ISLNK(found.st_mode) else _xattrs(path),
        )


class HadoopFiles:
    """Files of HDFS, through the JVM's own client."""

    def __init__(self, spark: Any, uri: str) -> None:
        """Open the file system on which `uri` lies."""
        self.jvm, self.gateway = spark.sparkContext._jvm, spark.sparkContext._gateway
        conf = spark.sparkContext._jsc.hadoopConfiguration()
        self.fs = self._path(uri).getFileSystem(conf)
        self.context = self.jvm.org.apache.hadoop.fs.FileContext.getFileContext(
            self._path(uri).toUri(), conf
        )
        rename = self.jvm.org.apache.hadoop.fs.Options.Rename
        self.never_replace = self.gateway.new_array(rename, 1)
        self.never_replace[0] = rename.NONE

    def stands(self, uri: str) -> bool:
        """Whether anything is at a place."""
        return bool(self.fs.exists(self._path(uri)))

    def is_free(self, uri: str) -> bool:
        """Whether nothing, or an empty directory, is at a place."""
        path = self._path(uri)
        if not self.fs.exists(path):
            return True
        return bool(self.fs.getFileStatus(path).isDirectory()) and not self.names(uri)

    def names(self, uri: str) -> list[str]:
        """List a directory."""
        return sorted(found.getPath().getName() for found in self.fs.listStatus(self._path(uri)))

    def read(self, uri: str) -> bytes:
        """Read a file."""
        stream = self.fs.open(self._path(uri))
        try:
            return bytes(self.jvm.org.apache.commons.io.IOUtils.toByteArray(stream))
        finally:
            stream.close()

    def write_new(self, uri: str, data: bytes) -> None:
        """Write a file that must not exist, whole or not at all."""
        directory, _, name = uri.rpartition("/")
        beside = self._path(f"{directory}/._{name}")
        stream = self.fs.create(beside, YES)
        stream.write(bytearray(data))
        stream.hsync()
        stream.close()
        self.context.rename(beside, self._path(uri), self.never_replace)

    def walk(self, uri: str) -> Iterator[Fact]:
        """Yield a place and all below it."""
        pending = [self.fs.getFileStatus(self._path(uri))]
        root = pending[0].getPath().toUri().getPath()
        while pending:
            found = pending.pop()
            yield self._fact(found, root)
            if found.isDirectory():
                pending.extend(self.fs.listStatus(found.getPath()))

    def make_directory(self, uri: str, fact: Fact) -> None:
        """Make one directory as it was."""
        self.fs.mkdirs(self._path(uri))
        self.mend(uri, fact, with_time=False)

    def move(self, source: str, target: str) -> None:
        """Move a directory; an empty one at its place makes room, anything else refuses."""
        if self.stands(target):
            self.fs.delete(self._path(target), NO)
        self.context.rename(self._path(source), self._path(target), self.never_replace)

    def mend(self, uri: str, fact: Fact, *, with_time: bool = True) -> None:
        """Give a file the owner, mode, ACL and time that it had."""
        path, permission = self._path(uri), self.jvm.org.apache.hadoop.fs.permission
        self.fs.setPermission(path, permission.FsPermission(f"{fact.mode:o}"))
        if fact.acl:
            base = [
                f"{kind}::{ACTIONS[fact.mode >> shift & 7]}"
                for kind, shift in (("user", 6), ("mask", 3), ("other", 0))
            ]
            entries = [
                entry[entry.startswith("access:") and len("access:") :] for entry in fact.acl
            ]
            with _said(f"the ACL of {uri}"):
                spec = ",".join([*base, *entries])
                self.fs.setAcl(path, permission.AclEntry.parseAclSpec(spec, YES))
        with _said(f"the owner of {uri}"):
            self.fs.setOwner(path, fact.owner, fact.group)
        if with_time:
            with _said(f"the time of {uri}"):
                self.fs.setTimes(path, fact.mtime_ms, -1)

    def _fact(self, found: Any, root: str) -> Fact:
        return Fact(
            found.getPath().toUri().getPath()[len(root) :].lstrip("/"),
            bool(found.isDirectory()),
            int(found.getLen()),
            int(found.getModificationTime()),
            found.getOwner(),
            found.getGroup(),
            int(found.getPermission().toShort()) & 0o7777,
            self._acl(found) if found.hasAcl() else (),
        )

    def _acl(self, found: Any) -> tuple[str, ...]:
        entries = self.fs.getAclStatus(found.getPath()).getEntries()
        said = [str(entry.toString()) for entry in entries]
        return tuple(text if text.startswith("default:") else f"access:{text}" for text in said)

    def _path(self, uri: str) -> Any:
        return self.jvm.org.apache.hadoop.fs.Path(uri)


def compare(item: dict[str, Any], found: Iterable[Fact]) -> tuple[list[str], list[Fact], bool]:
    """Return what is missing or shorter, what has to be set again, and whether all is as it was."""
    there = {fact.path: fact for fact in found}
    short, damage = [], []
    for row in item["files"]:
        fact = fact_of(row)
        seen = there.get(fact.path)
        if seen is None or seen.is_dir != fact.is_dir or seen.size < fact.size:
            short.append(fact.path or ".")
        elif seen[3:] != fact[3:]:
            damage.append(fact)
    known = {fact_of(row) for row in item["files"]}
    is_exact = known == set(there.values())
    return short, damage, is_exact


def fact_of(row: list[Any]) -> Fact:
    """Read a file of the manifest."""
    return Fact(*(*row[:7], tuple(row[7])))


def forget_statistics(parameters: Any) -> None:
    """Let parameters, a map of Java's, call no column's statistics right: none are brought back."""
    text = parameters.get("COLUMN_STATS_ACCURATE")
    if text is None or '"COLUMN_STATS"' not in text:
        return
    rest = {key: value for key, value in json.loads(text).items() if key != "COLUMN_STATS"}
    if rest:
        parameters.put("COLUMN_STATS_ACCURATE", json.dumps(rest, separators=(",", ":")))
    else:
        parameters.remove("COLUMN_STATS_ACCURATE")


def below(root: str, path: str) -> str:
    """Return a place below another; an empty path is the place itself."""
    return f"{root}/{path}" if path else root


def instant() -> str:
    """Return the instant as the journal writes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime())


def say(text: str) -> None:
    """Say a line to the person."""
    sys.stdout.write(text + "\n")


@contextlib.contextmanager
def _said(what: str) -> Iterator[None]:
    """Say what could not be set; the data is back all the same."""
    try:
        yield
    except (OSError, LookupError, Py4JJavaError) as error:
        say(f"could not set {what}: {str(error).splitlines()[0]}")


def _local(uri: str) -> Path:
    return Path("/" + uri[len("file:") :].lstrip("/"))


def _xattrs(path: Path) -> tuple[str, ...]:
    found = []
    for name in XATTRS:
        with contextlib.suppress(OSError):
            found.append(f"{name}={os.getxattr(path, name, follow_symlinks=False).hex()}")
    return tuple(found)


def _name(number: int, kind: str) -> str:
    import grp
    import pwd

    try:
        return pwd.getpwuid(number).pw_name if kind == "pwd" else grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)


def _number(name: str, kind: str) -> int:
    import grp
    import pwd

    if name.isdigit():
        return int(name)
    return pwd.getpwnam(name).pw_uid if kind == "pwd" else grp.getgrnam(name).gr_gid
