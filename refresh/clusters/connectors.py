"""Reads the password in a file, and checks that nobody else can read the file."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from portal.lake.errors import ExternalFailure, RuleViolation

_LONGEST = 1024
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def read_password(path: str, *, below: Path) -> str:
    """Read a password from a file below a directory that only the portal's own account may read.

    A path that leads elsewhere, by itself or by a link, is refused before its file is looked at:
    nobody learns by it which files there are.

    Raises:
        RuleViolation: the path is not absolute, leads elsewhere, is no plain file, others may read
            it, or what stands in it is no password.
        ExternalFailure: it is not there, or the portal may not read it.
    """
    file = Path(path)
    if "\0" in path or not file.is_absolute():
        raise _refused(path, "is no absolute path. Give the whole path of the password's file")
    file = _inside(path, below)
    try:
        _check_mode(path, file.stat())
        with file.open("rb") as stream:
            content = stream.read(_LONGEST + 1)
    except OSError as error:
        raise ExternalFailure(
            "config.password_file",
            f"The password file {path} cannot be read ({error.strerror}). Put it on the machine "
            "of the portal and of its workers, owned by their account, with mode 0600.",
            service="config",
            retryable=False,
            path=path,
        ) from error
    return _password(path, content)


def _inside(path: str, below: Path) -> Path:
    """Follow the links of a path inside of the directory; whatever leads out of it is refused."""
    plain = Path(os.path.normpath(path))
    root = below.resolve()
    if plain.is_relative_to(below) or plain.is_relative_to(root):
        with suppress(OSError, RuntimeError):  # a loop of links
            found = plain.resolve()
            if found.is_relative_to(root):
                return found
    raise _refused(
        path,
        f"is not below {below}, from where the portal takes passwords of clusters "
        "(LAKEWARDEN_PASSWORD_DIR). Put the file there",
    )


def _check_mode(path: str, found: os.stat_result) -> None:
    """Refuse what others may read; what another account owns is read by way of a group."""
    mode = found.st_mode
    forbidden = _OTHERS if found.st_uid == os.geteuid() else _OTHERS & ~stat.S_IRGRP
    if not stat.S_ISREG(mode):
        raise _refused(path, "is no plain file. Put the password into one")
    if mode & forbidden:
        raise _refused(
            path,
            f"may be read or changed by others (mode {stat.S_IMODE(mode):04o}). Take that away "
            "(chmod 600), and change the password if somebody may have seen it",
        )


def _password(path: str, content: bytes) -> str:
    try:
        password = content.decode().rstrip("\r\n")
    except UnicodeDecodeError:
        password = ""
    if not password or len(content) > _LONGEST or not password.isprintable():
        raise _refused(path, "holds no password. One line of text is needed, nothing else")
    return password


def _refused(path: str, reason: str) -> RuleViolation:
    return RuleViolation("cluster.password_file", f"{path or 'An empty path'} {reason}.", path=path)
