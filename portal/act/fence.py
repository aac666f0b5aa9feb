"""What keeps a driver that was given up from acting on? Its fence: a directory, and a lease in it.

A takeover renames the directory away, so that the zombie's next move fails for want of a parent.
Metastore calls cannot be fenced that way: before each the driver looks whether the directory still
stands and the lease is in date.
"""

import json
import time
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from portal.act.layout import DIRECTORY_MODE, LEASE, MARKER
from portal.connectors.file_status import MISSING, UNKNOWN, FileSystem, rename_and_look
from portal.lake.errors import (
    DataSafetyError,
    ExternalFailure,
    NotVisible,
    PortalError,
    RuleViolation,
    StaleState,
)
from portal.lake.paths import LakePath

LEASE_LENGTH = timedelta(seconds=60)
RENEWED_WITHIN = timedelta(seconds=10)
_LOOK_AGAIN_SECONDS = 0.2


class Fence:
    """One run's right to act, as one epoch."""

    def __init__(self, fs: FileSystem, path: LakePath, *, clock: Callable[[], datetime]) -> None:
        self.fs = fs
        self.path = path
        self._clock = clock

    def check(self) -> None:
        """Raise StaleState `act.fenced` unless the fence stands and the lease is in date."""
        try:
            until = read_lease(self.fs, self.path)
        except NotVisible as error:
            raise StaleState(
                "act.fenced",
                "This run was taken over: its fence is gone. Nothing more is done here.",
                fence=self.path,
            ) from error
        if self._clock() >= until:
            raise StaleState(
                "act.fenced",
                "This run's lease is over: its supervisor did not renew it. Nothing more is done.",
                fence=self.path,
                until=until,
            )

    def check_renewed(self, within: timedelta = RENEWED_WITHIN) -> None:
        """Wait until the supervisor renewed the lease within this time; then `check` holds too.

        Deletions ask this: an emergency stop that nobody passes on ends them this soon, and a
        supervisor that is only slow delays them.

        Raises:
            StaleState: `act.fenced`, as `check`: the lease was not renewed before its end.
        """
        while True:
            self.check()
            if read_lease(self.fs, self.path) - LEASE_LENGTH + within > self._clock():
                return
            time.sleep(_LOOK_AGAIN_SECONDS)

    def move(self, source: LakePath, target: LakePath, *, sync: bool = True) -> None:
        """Rename atomically; a missing fence is StaleState `act.fenced`, never a made parent.

        One of both ends is this run's alone, so where an answer is lost the two ends decide.
        """
        try:
            rename_and_look(self.fs, source, target, sync=sync)
        except StaleState as error:
            if error.code == "fs.parent_missing":
                raise StaleState("act.fenced", "This run was taken over.", path=target) from error
            raise


def open_fence(fs: FileSystem, path: LakePath, *, lease_until: datetime) -> None:
    """Make a fence with its lease; a second call renews the lease of the same fence."""
    fs.make_directories(path, mode=DIRECTORY_MODE)
    write_lease(fs, path, until=lease_until)


def write_lease(fs: FileSystem, fence: LakePath, *, until: datetime) -> bool:
    """Renew the lease; False where the fence has gone (sealed), which is no error."""
    try:
        fs.replace(fence.child(LEASE), json.dumps({"until": until.isoformat()}).encode())
    except (NotVisible, StaleState):
        return False
    return True


def read_lease(fs: FileSystem, fence: LakePath) -> datetime:
    """Give the end of a fence's lease; NotVisible where fence or lease has gone."""
    try:
        return datetime.fromisoformat(json.loads(fs.read(fence.child(LEASE)))["until"])
    except (ValueError, KeyError, TypeError) as error:
        raise NotVisible("act.lease", f"{fence} holds no readable lease.", path=fence) from error


def move_directory(fs: FileSystem, source: LakePath, target: LakePath) -> bool:
    """Rename a run's directory (seal, claim, release), making the parents of the target.

    Gives False where the source is not there and the target is: an earlier, interrupted call did
    it. Raises StaleState where neither or both are there.
    """
    fs.make_directories(target.parent, mode=DIRECTORY_MODE)
    try:
        fs.rename(source, target)
    except PortalError as error:
        if error.code not in (MISSING, UNKNOWN):
            raise
        if fs.status(source) is None and fs.status(target) is not None:
            return False
        raise
    return True


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
) -> list[LakePath]:
    """Prove mkdir and rename both ways between each governed directory and the root.

    Gives the directories that are not in the root's rename domain (or not writable for us); their
    items are left out. A root that cannot be written at all is an ExternalFailure.
    """
    refused = []
    away = root.child(f".preflight-{tag}")
    for directory in dict.fromkeys(governed):
        home = directory.child(f".lakewarden-preflight-{tag}")
        try:
            fs.make_directory(home, mode=DIRECTORY_MODE)
            fs.rename(home, away)
            fs.rename(away, home)
        except PortalError:
            refused.append(directory)
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
