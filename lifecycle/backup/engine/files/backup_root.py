"""Makes, marks and checks a backup root, and proves that data can be moved into it."""

import json
from collections.abc import Iterable

from lifecycle.backup.domain.layout import MARKER
from portal.connectors.file_status import FileSystem
from portal.lake.errors import (
    DataSafetyError,
    ExternalFailure,
    NotVisible,
    PortalError,
    RuleViolation,
    StaleState,
)
from portal.lake.paths import LakePath
from portal.safety.fence import DIRECTORY_MODE


def ensure_root(fs: FileSystem, root: LakePath, *, deployment_id: str) -> None:
    """Make sure that a backup root is ours: made with mode 0700 and marked at first use.

    Raises:
        DataSafetyError: `act.foreign_root`, the marker names another deployment.
        RuleViolation: `act.unmarked_root`, there are things in it but no marker; or open rights.
    """
    if fs.status(root) is None:
        fs.make_directories(root, mode=DIRECTORY_MODE)
    if fs.status(root.child(MARKER)) is None:
        _mark(fs, root, deployment_id=deployment_id)
    status = fs.status(root)
    if status is not None and status.mode & 0o077:
        raise RuleViolation(
            "act.open_root", f"{root} must have mode 0700; others could change backups.", root=root
        )
    check_marker(fs, root, deployment_id=deployment_id)


def _mark(fs: FileSystem, root: LakePath, *, deployment_id: str) -> None:
    if any(not child.path.name.startswith("._") for child in fs.children(root)):
        raise RuleViolation(
            "act.unmarked_root",
            f"{root} holds things but no {MARKER}; name an empty directory as backup root.",
            root=root,
        )
    fs.set_mode(root, DIRECTORY_MODE)
    try:
        marker = json.dumps({"deployment_id": deployment_id}).encode()
        fs.write_new(root.child(MARKER), marker)
    except StaleState as error:
        if error.code != "fs.exists":
            raise


def check_marker(fs: FileSystem, root: LakePath, *, deployment_id: str) -> None:
    """Raise DataSafetyError unless the root's marker holds this deployment's id."""
    try:
        found = json.loads(fs.read(root.child(MARKER)))["deployment_id"]
    except (NotVisible, ValueError, KeyError, TypeError) as error:
        raise DataSafetyError(
            "act.foreign_root", f"{root} holds no readable {MARKER}.", root=root
        ) from error
    if found != deployment_id:
        raise DataSafetyError(
            "act.foreign_root",
            f"{root} belongs to the deployment {found!r}, not to this one. Two portals must never "
            "share a backup root.",
            root=root,
        )


def preflight(
    fs: FileSystem, root: LakePath, governed: Iterable[LakePath], *, tag: str
) -> dict[LakePath, str]:
    """Prove mkdir and rename both ways between each governed directory and the root.

    Gives the directories that are not in the root's rename domain (or not writable for us), with
    the file system's answer; their items are left out. A root that cannot be written at all is an
    ExternalFailure.
    """
    refused: dict[LakePath, str] = {}
    away = root.child(f".preflight-{tag}")
    for directory in dict.fromkeys(governed):
        home = directory.child(f".lakewarden-preflight-{tag}")
        try:
            fs.make_directory(home, mode=DIRECTORY_MODE)
            fs.rename(home, away)
            fs.rename(away, home)
        except PortalError as error:
            refused[directory] = error.message
        finally:
            for leftover in (home, away):
                _remove_quietly(fs, leftover)
    try:
        fs.make_directory(away, mode=DIRECTORY_MODE)
        fs.remove_empty_directory(away)
    except PortalError as error:
        raise ExternalFailure(
            "act.preflight",
            f"The backup root {root} cannot be written: {error.message}",
            service="filesystem",
            retryable=True,
        ) from error
    return refused


def _remove_quietly(fs: FileSystem, path: LakePath) -> None:
    try:
        fs.remove_empty_directory(path)
    except PortalError:
        # The preflight's verdict stands; an empty directory left behind harms nothing.
        return
