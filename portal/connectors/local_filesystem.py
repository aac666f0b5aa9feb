"""Local files with the promises of journal.md: renameat2(RENAME_NOREPLACE), fsync, no parents made.

There is no check for open writers on a local file system: `is_closed` says None.
"""

import contextlib
import ctypes
import errno
import grp
import os
import pwd
import stat
import uuid
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import NoReturn

from portal.connectors.file_status import FileStatus, place_new, stale_path, walk_tree
from portal.connectors.name_services.crossing import check_one_service
from portal.lake.errors import ExternalFailure, NotVisible, StaleState
from portal.lake.paths import LakePath

_AT_FDCWD = -100
_RENAME_NOREPLACE = 1
_LIBC = ctypes.CDLL(None, use_errno=True)
_ACL_ATTRIBUTES = ("system.posix_acl_access", "system.posix_acl_default")
_NO_ATIME_OPTIONS = ("noatime",)


class LocalFileSystem:
    """Files of this machine; `file:` paths have no authority."""

    def status(self, path: LakePath) -> FileStatus | None:
        """Return a file's status, or None where nothing is there."""
        try:
            return self._status(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            _fail(error, path)

    def children(self, path: LakePath) -> list[FileStatus]:
        """List a directory, sorted by name."""
        found = [self.status(_below(path, name)) for name in self.names(path)]
        return [status for status in found if status is not None]

    def names(self, path: LakePath) -> list[str]:
        """List a directory's names, sorted."""
        try:
            return sorted(entry.name for entry in Path(path.path).iterdir())
        except OSError as error:
            _fail(error, path)

    def walk(self, path: LakePath) -> Iterator[FileStatus]:
        """Return the root and all below it, parents first, sorted; links are not followed."""
        return walk_tree(self, path)

    def make_directory(self, path: LakePath, *, mode: int) -> None:
        """Make one directory with exactly `mode`."""
        try:
            Path(path.path).mkdir(mode)
            Path(path.path).chmod(mode)
        except FileNotFoundError as error:
            raise stale_path("fs.parent_missing", path) from error
        except OSError as error:
            _fail(error, path)

    def make_directories(self, path: LakePath, *, mode: int) -> None:
        """Make a directory and its missing parents, all with `mode`."""
        missing = []
        while not os.path.lexists(path.path):
            missing.append(path)
            path = path.parent
        for directory in reversed(missing):
            with contextlib.suppress(StaleState):
                self.make_directory(directory, mode=mode)
        top = self.status(missing[0] if missing else path)
        if top is None or not top.is_dir:
            raise stale_path("fs.exists", path)

    def rename(self, source: LakePath, target: LakePath, *, sync: bool = True) -> None:
        """Move atomically by renameat2; another file system (EXDEV) is a failure, never a copy."""
        check_one_service(source, target)
        done = _LIBC.renameat2(
            _AT_FDCWD,
            os.fsencode(source.path),
            _AT_FDCWD,
            os.fsencode(target.path),
            _RENAME_NOREPLACE,
        )
        if done == 0:
            if sync:
                self.sync_directories([source.parent, target.parent])
            return
        code = ctypes.get_errno()
        if code in (errno.ENOENT, errno.ENOTDIR):
            gone = not os.path.lexists(source.path)
            raise stale_path(
                "fs.missing" if gone else "fs.parent_missing",
                source if gone else target,
            )
        if code == errno.EEXIST:
            raise stale_path("fs.exists", target)
        _fail(OSError(code, os.strerror(code)), source)

    def sync_directories(self, paths: Iterable[LakePath]) -> None:
        """Make renames into and out of these directories outlive a power cut."""
        for path in set(paths):
            _sync_directory(path)

    def read(self, path: LakePath, *, n_bytes: int = -1) -> bytes:
        """Read a whole small file, or only its start."""
        try:
            with Path(path.path).open("rb") as file:
                return file.read(n_bytes)
        except OSError as error:
            _fail(error, path)

    def write_new(self, path: LakePath, data: bytes) -> None:
        """Write beside, fsync, then rename without replacing."""
        place_new(self, self._write_beside(path, data), path)

    def replace(self, path: LakePath, data: bytes) -> None:
        """Write beside, fsync, then rename over."""
        temporary = self._write_beside(path, data)
        try:
            Path(temporary.path).replace(path.path)
        except OSError as error:
            self.remove_file(temporary)
            _fail(error, path)
        _sync_directory(path.parent)

    def remove_file(self, path: LakePath) -> None:
        """Remove one file; a missing one is no error."""
        try:
            Path(path.path).unlink()
        except FileNotFoundError:
            return
        except OSError as error:
            _fail(error, path)

    def remove_empty_directory(self, path: LakePath) -> None:
        """Remove an empty directory; a missing one is no error."""
        try:
            Path(path.path).rmdir()
        except FileNotFoundError:
            return
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                raise stale_path("fs.not_empty", path) from error
            _fail(error, path)

    def set_mode(self, path: LakePath, mode: int) -> None:
        """Set the permission bits."""
        try:
            Path(path.path).chmod(mode)
        except OSError as error:
            _fail(error, path)

    def set_modified(self, path: LakePath, mtime_ms: int) -> None:
        """Set the time of the last modification, in whole milliseconds."""
        try:
            atime_ns = os.lstat(path.path).st_atime_ns
            os.utime(path.path, ns=(atime_ns, mtime_ms * 1_000_000))
        except OSError as error:
            _fail(error, path)

    def set_owner(self, path: LakePath, owner: str, group: str) -> None:
        """Set owner and group by name (or by number for one that has no name)."""
        try:
            os.chown(path.path, _user_id(owner), _group_id(group), follow_symlinks=False)
        except OSError as error:
            _fail(error, path)

    def set_acl(self, path: LakePath, acl: tuple[str, ...]) -> None:
        """Set the ACL attributes as `status` gave them (attribute=hex)."""
        wanted = dict(entry.split("=", 1) for entry in acl)
        try:
            for name in _ACL_ATTRIBUTES:
                if name in wanted:
                    os.setxattr(path.path, name, bytes.fromhex(wanted[name]))
                elif _attribute(path.path, name) is not None:
                    os.removexattr(path.path, name)
        except OSError as error:
            _fail(error, path)

    def is_closed(self, path: LakePath) -> bool | None:
        """Say None: a local file system has no such check."""
        return None

    def _status(self, path: LakePath) -> FileStatus:
        found = os.lstat(path.path)
        is_link = stat.S_ISLNK(found.st_mode)
        return FileStatus(
            path=path,
            is_dir=stat.S_ISDIR(found.st_mode),
            size=0 if stat.S_ISDIR(found.st_mode) else found.st_size,
            mtime_ms=found.st_mtime_ns // 1_000_000,
            atime_ms=found.st_atime_ns // 1_000_000 if _keeps_access_times(found.st_dev) else None,
            owner=_user_name(found.st_uid),
            group=_group_name(found.st_gid),
            mode=stat.S_IMODE(found.st_mode),
            acl=() if is_link else _acl(path.path),
        )

    def _write_beside(self, path: LakePath, data: bytes) -> LakePath:
        temporary = path.parent.child(f"._{path.name}.{uuid.uuid4().hex}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        try:
            with os.fdopen(os.open(temporary.path, flags, 0o600), "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except FileNotFoundError as error:
            raise stale_path("fs.parent_missing", path) from error
        except OSError as error:
            self.remove_file(temporary)
            _fail(error, path)
        return temporary


def _below(path: LakePath, name: str) -> LakePath:
    # A name may hold what LakePath.child refuses (a control character): it is listed all the same.
    base = "" if path.path == "/" else path.path
    return LakePath(path.scheme, path.authority, f"{base}/{name}")


def _fail(error: OSError, path: LakePath) -> NoReturn:
    if error.errno == errno.ENOENT:
        raise NotVisible("fs.missing", f"{path} is not there.", path=path) from error
    if error.errno == errno.EEXIST:
        raise stale_path("fs.exists", path) from error
    raise ExternalFailure(
        "fs.refused",
        f"The file system refused {path}: {error.strerror}.",
        service="filesystem",
        retryable=error.errno in (errno.EIO, errno.EAGAIN, errno.ENOSPC, errno.EBUSY),
        path=path,
    ) from error


def _sync_directory(path: LakePath) -> None:
    # Without this a rename may be undone by a power cut although the caller was told it stands.
    with contextlib.suppress(OSError):
        handle = os.open(path.path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _attribute(path: str, name: str) -> bytes | None:
    try:
        return os.getxattr(path, name, follow_symlinks=False)
    except OSError:
        return None


def _acl(path: str) -> tuple[str, ...]:
    found = ((name, _attribute(path, name)) for name in _ACL_ATTRIBUTES)
    return tuple(f"{name}={value.hex()}" for name, value in found if value)


@lru_cache(maxsize=64)
def _keeps_access_times(device: int) -> bool:
    wanted = f"{os.major(device)}:{os.minor(device)}"
    try:
        with Path("/proc/self/mountinfo").open(encoding="utf-8") as mounts:
            for line in mounts:
                fields = line.split()
                if fields[2] == wanted:
                    return not set(fields[5].split(",")) & set(_NO_ATIME_OPTIONS)
    except OSError:
        return False
    return True


@lru_cache(maxsize=1024)
def _user_name(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


@lru_cache(maxsize=1024)
def _group_name(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)


def _user_id(name: str) -> int:
    return int(name) if name.isdigit() else pwd.getpwnam(name).pw_uid


def _group_id(name: str) -> int:
    return int(name) if name.isdigit() else grp.getgrnam(name).gr_gid
