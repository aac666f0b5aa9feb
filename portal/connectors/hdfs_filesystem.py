"""HDFS through hdfs-native (Rust, no JVM), with the promises of journal.md.

Its rename refuses an existing target and a missing parent. `is_closed` has no call there: an acting
job asks the JVM. As whom a call is made is `hdfs_user`.
"""

import contextlib
import copy
import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import NoReturn

import hdfs_native

from portal.connectors.file_status import (
    FAILED,
    MISSING,
    REFUSED,
    FileStatus,
    lost_answer,
    place_new,
    rename_and_look,
    stale_path,
    walk_tree,
)
from portal.connectors.hdfs_user import turns
from portal.connectors.kerberos.settings import Kerberos
from portal.connectors.kerberos.tickets import is_login_failure, login_failure
from portal.connectors.name_services.crossing import check_one_service
from portal.connectors.name_services.opening import open_client
from portal.connectors.name_services.principals import service_of
from portal.connectors.reach.denials import told
from portal.lake.errors import ExternalFailure, NotVisible, PortalError, StaleState
from portal.lake.paths import LakePath

# Makes a new file of the mode 0600 with this content and closes it; the parent must stand. Errors
# are the system's own (FileNotFoundError, OSError) or ours.
Writer = Callable[[LakePath, bytes], None]

# What the library raises for an answer of the NameNode; any other OSError is a broken connection.
_ANSWERS = (
    FileNotFoundError,
    FileExistsError,
    NotADirectoryError,
    IsADirectoryError,
    PermissionError,
)
# The library quotes Java's stack traces, in which "AccessController" stands whatever went wrong.
_STACK_TRACE = re.compile(r"\n|\\n")
# Answers by which a NameNode says that it cannot decide now.
_NOT_NOW = ("StandbyException", "RetriableException", "SafeModeException", "ObserverRetryOnActive")
# The first may end a NameNode whose time is over, and find that nobody answers.
_CONFIRMATIONS = 3
# Directories of backups, in which nobody else changes anything.
_OWN_MODE = 0o700
_ACTIONS = ("---", "--x", "-w-", "-wx", "r--", "r-x", "rw-", "rwx")


class HdfsFileSystem:
    """One name service, as one user; without `acls` a listing is one call, whatever lies there."""

    def __init__(
        self,
        authority: str,
        *,
        user: str | None = None,
        acls: bool = True,
        settings: Mapping[str, str] = MappingProxyType({}),
        kerberos: Kerberos | None = None,
    ) -> None:
        """`settings`: properties of Hadoop; with `kerberos` its principal is the user."""
        self._authority = authority
        self._user = user
        self._client = open_client(authority, user, frozenset(settings.items()), kerberos)
        self._has_acls = acls
        self._kerberos = kerberos
        self._service = service_of(settings, authority)
        self._write: Writer = self._write_natively

    def with_writer(self, writer: Writer) -> "HdfsFileSystem":
        """Return the same file system whose files are written by `writer`."""
        other = copy.copy(self)
        other._write = writer
        return other

    def status(self, path: LakePath) -> FileStatus | None:
        """Return a file's status, or None where nothing is there."""
        try:
            with self._call(path):
                return self._from_native(self._client.get_file_info(path.path))
        except NotVisible:
            return None

    def children(self, path: LakePath) -> list[FileStatus]:
        """List a directory, sorted by name."""
        with self._call(path):
            found = [self._from_native(status) for status in self._listed(path)]
        return sorted(found, key=lambda status: status.path.path)

    def names(self, path: LakePath) -> list[str]:
        """List a directory's names, sorted; none of them is asked for its ACL."""
        with self._call(path):
            return sorted(found.path.rsplit("/", 1)[1] for found in self._listed(path))

    def walk(self, path: LakePath) -> Iterator[FileStatus]:
        """Return the root and all below it, parents first, sorted; links are not followed."""
        return walk_tree(self, path)

    def make_directory(self, path: LakePath, *, mode: int) -> None:
        """Make one directory with exactly `mode`, for one caller only.

        mkdirs accepts an existing directory; making it beside and renaming it into place does not.
        """
        temporary = path.parent.child(f"._{path.name}.{uuid.uuid4().hex}")
        try:
            with self._call(path):
                self._client.mkdirs(temporary.path, mode, create_parent=False)
        except NotVisible as error:
            raise stale_path("fs.parent_missing", path) from error
        try:
            self.set_mode(temporary, mode)
            rename_and_look(self, temporary, path)
        except BaseException:
            self.remove_empty_directory(temporary)
            raise

    def make_directories(self, path: LakePath, *, mode: int) -> None:
        """Make a directory and its missing parents, all with `mode`."""
        missing = []
        while (found := self.status(path)) is None:
            missing.append(path)
            path = path.parent
        if not found.is_dir:
            raise stale_path("fs.exists", path)
        for directory in reversed(missing):
            try:
                self.make_directory(directory, mode=mode)
            except StaleState as error:
                if error.code != "fs.exists":
                    raise

    def rename(self, source: LakePath, target: LakePath, *, sync: bool = True) -> None:
        """Move atomically; the NameNode refuses an existing target and a missing parent.

        It is told paths alone, so the services of both ends are compared here. It has written its
        edit log before it answers, so `sync` is always so.
        """
        check_one_service(source, target)
        try:
            with self._call(source):
                self._client.rename(source.path, target.path, overwrite=False)
        except PortalError as error:
            if not _is_answer(error.__cause__):
                self._confirm(source, target)
                raise lost_answer(source, target, error.message) from error
            if any(name in error.message for name in _NOT_NOW):
                raise
            code = self._refusal_code(source, target)
            if code is not None:
                raise stale_path(code, source if code == MISSING else target) from error
            raise _refused(error.message, source) from error

    def sync_directories(self, paths: Iterable[LakePath]) -> None:
        """Do nothing: the NameNode has it on its disks already."""

    def read(self, path: LakePath, *, n_bytes: int = -1) -> bytes:
        """Read a whole small file, or only its start."""

        def read(client: hdfs_native.Client) -> bytes:
            with client.read(path.path) as file:
                return bytes(file.read(n_bytes))

        with self._call(path):
            return self._client.within(read)

    def write_new(self, path: LakePath, data: bytes) -> None:
        """Write beside, close, then rename without replacing."""
        place_new(self, self._write_beside(path, data), path)

    def replace(self, path: LakePath, data: bytes) -> None:
        """Write beside, close, then rename over."""
        temporary = self._write_beside(path, data)
        try:
            with self._call(path):
                self._client.rename(temporary.path, path.path, overwrite=True)
        except PortalError:
            self.remove_file(temporary)
            raise

    def remove_file(self, path: LakePath) -> None:
        """Remove one file; a missing one is no error, a directory is refused."""
        found = self.status(path)
        if found is None:
            return
        if found.is_dir:
            raise stale_path("fs.exists", path)
        with contextlib.suppress(NotVisible), self._call(path):
            self._client.delete(path.path, recursive=False)

    def remove_empty_directory(self, path: LakePath) -> None:
        """Remove an empty directory; a missing one is no error."""
        try:
            with contextlib.suppress(NotVisible), self._call(path):
                self._client.delete(path.path, recursive=False)
        except ExternalFailure as error:
            if self.status(path) is not None and self.children(path):
                raise stale_path("fs.not_empty", path) from error
            raise

    def set_mode(self, path: LakePath, mode: int) -> None:
        """Set the permission bits."""
        with self._call(path):
            self._client.set_permission(path.path, mode)

    def set_modified(self, path: LakePath, mtime_ms: int) -> None:
        """Set the time of the last modification."""
        with self._call(path):
            found = self._client.get_file_info(path.path)
            self._client.set_times(path.path, mtime_ms, found.access_time)

    def set_owner(self, path: LakePath, owner: str, group: str) -> None:
        """Set owner and group."""
        with self._call(path):
            self._client.set_owner(path.path, owner, group)

    def set_acl(self, path: LakePath, acl: tuple[str, ...]) -> None:
        """Set the extended ACL entries as `status` gave them; the mode's bits stay as they are."""
        with self._call(path):
            if not acl:
                self._client.remove_acl(path.path)
                return
            mode = self._client.get_file_info(path.path).permission
            base = [
                f"access:{kind}::{_ACTIONS[mode >> shift & 7]}"
                for kind, shift in (("user", 6), ("mask", 3), ("other", 0))
            ]
            self._client.set_acl(path.path, [_entry(text) for text in (*base, *acl)])

    def is_closed(self, path: LakePath) -> bool | None:
        """Say None: the client has no such call; an acting job asks its JVM."""
        return None

    def _listed(self, path: LakePath) -> list[hdfs_native.FileStatus]:
        found = list(self._client.list_status(path.path))
        if len(found) == 1 and not found[0].isdir and found[0].path.rstrip("/") == path.path:
            raise NotADirectoryError("Not a directory")  # a file lists itself
        return found

    @contextmanager
    def _call(self, path: LakePath) -> Iterator[None]:
        """Ask as the own user, and translate what the library raises."""
        with turns.of(self._user), _translated(path, self._kerberos, self._service):
            yield

    def _from_native(self, found: hdfs_native.FileStatus) -> FileStatus:
        return FileStatus(
            path=LakePath("hdfs", self._authority, found.path.rstrip("/") or "/"),
            is_dir=found.isdir,
            size=found.length,
            mtime_ms=found.modification_time,
            atime_ms=found.access_time or None,
            owner=found.owner,
            group=found.group,
            mode=found.permission & 0o7777,
            acl=self._acl(found.path),
        )

    def _acl(self, path: str) -> tuple[str, ...]:
        # The library hides the bit that says whether there is one, so every file is asked.
        if not self._has_acls:
            return ()
        try:
            found = self._client.get_acl_status(path)
        except FileNotFoundError:
            return ()
        except RuntimeError as error:
            if "dfs.namenode.acls.enabled" not in str(error):
                raise
            self._has_acls = False
            return ()
        return tuple(
            f"{entry.scope}:{entry.type}:{entry.name or ''}:{entry.permissions}"
            for entry in found.entries
        )

    def _write_beside(self, path: LakePath, data: bytes) -> LakePath:
        temporary = path.parent.child(f"._{path.name}.{uuid.uuid4().hex}")
        try:
            with self._call(path):
                self._write(temporary, data)
        except NotVisible as error:
            raise stale_path("fs.parent_missing", path) from error
        return temporary

    def _write_natively(self, path: LakePath, data: bytes) -> None:
        options = hdfs_native.WriteOptions(permission=0o600, create_parent=False)

        def write(client: hdfs_native.Client) -> None:
            with client.create(path.path, options) as writer:
                writer.write(data)
                if data:
                    writer.hsync()

        self._client.within(write)

    def _confirm(self, source: LakePath, target: LakePath) -> None:
        """Write an edit that changes nothing, so that a look afterwards can be trusted.

        A NameNode shows a rename before its journal has it, and one that was frozen during a
        failover shows the past. Edits are written in order: when this one is, so are those before,
        and the library goes on asking the NameNode that wrote it.

        Raises:
            ExternalFailure: no NameNode can write now, so looking would decide nothing.
        """
        reason = "neither parent directory is there"
        for _ in range(_CONFIRMATIONS):
            try:
                found = [self.status(path.parent) for path in (target, source)]
                there = [one for one in found if one is not None]
                for one in sorted(there, key=lambda one: one.mode != _OWN_MODE)[:1]:
                    self.set_modified(one.path, one.mtime_ms)
                    return
            except PortalError as error:
                reason = error.message
        raise _failed(
            f"Nobody knows whether {source} was moved to {target}, and no NameNode can say "
            f"for certain now: {reason}",
            source,
        )

    def _refusal_code(self, source: LakePath, target: LakePath) -> str | None:
        """Look why a rename was refused; None means that it was something else."""
        if self.status(source) is None:
            return MISSING
        if self.status(target) is not None:
            return "fs.exists"
        parent = self.status(target.parent)
        return "fs.parent_missing" if parent is None or not parent.is_dir else None


def _entry(text: str) -> hdfs_native.AclEntry:
    scope, kind, name, permissions = text.split(":")
    return hdfs_native.AclEntry(kind, scope, permissions, name or None)  # type: ignore[arg-type]  # literals


@contextmanager
def _translated(path: LakePath, kerberos: Kerberos | None, service: str) -> Iterator[None]:
    try:
        yield
    except PortalError:
        raise
    except Exception as error:  # the library's errors have no common base class
        if kerberos is not None and is_login_failure(error):
            raise login_failure(error, kerberos, service) from error
        _fail(error, path)


def _fail(error: Exception, path: LakePath) -> NoReturn:
    if isinstance(error, FileNotFoundError):
        raise NotVisible("fs.missing", f"{path} is not there.", path=path) from error
    if isinstance(error, FileExistsError):
        raise stale_path("fs.exists", path) from error
    said = _STACK_TRACE.split(str(error), maxsplit=1)[0] or type(error).__name__
    if isinstance(error, _ANSWERS) or "AccessControlException" in said:
        raise _refused(f"HDFS refused {path}: {told(said)}", path) from error
    raise _failed(f"HDFS failed on {path}: {said}", path) from error


def _is_answer(error: BaseException | None) -> bool:
    """Whether an error is the NameNode's own answer; a lost one says nothing of what was done."""
    return isinstance(error, _ANSWERS) or "RPCError(" in str(error)


def _failed(message: str, path: LakePath) -> ExternalFailure:
    return ExternalFailure(FAILED, message, service="filesystem", retryable=True, path=path)


def _refused(message: str, path: LakePath) -> ExternalFailure:
    return ExternalFailure(REFUSED, message, service="filesystem", retryable=False, path=path)
