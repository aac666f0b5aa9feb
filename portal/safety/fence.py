"""Fence that keeps an abandoned driver from acting: a directory, and a lease in it.

A takeover renames the directory away, so that the zombie's next move fails for want of a parent.
Metastore calls cannot be fenced that way: before each the driver looks whether the directory still
stands and the lease is in date.
"""

import json
import time
from collections.abc import Callable
from datetime import datetime, timedelta

from portal.connectors.file_status import MISSING, UNKNOWN, FileSystem, rename_and_look
from portal.lake.errors import (
    NotVisible,
    PortalError,
    StaleState,
)
from portal.lake.paths import LakePath

LEASE = "lease.json"
DIRECTORY_MODE = 0o700
LEASE_LENGTH = timedelta(seconds=60)
# A stop holds within ten seconds: the rest is for what may follow the last look, half a second at
# most between two looks and the deletion that is under way.
RENEWED_WITHIN = timedelta(seconds=9)
_CHECK_AGAIN_SECONDS = 0.2


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
            time.sleep(_CHECK_AGAIN_SECONDS)

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
    """Return the end of a fence's lease; NotVisible where fence or lease has gone."""
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
