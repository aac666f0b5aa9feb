"""Checks that the lake's services can be acted on: an exact metastore, and clocks that agree.

Asked before the fence of a run that moves data is made.
"""

from datetime import UTC, datetime
from typing import Any, Protocol

from portal.connectors.file_status import FileSystem
from portal.lake.clock import MOST_APART_SECONDS
from portal.lake.errors import StaleState
from portal.lake.paths import LakePath

_RAW_STORE = "metastore.rawstore.impl"
_CACHED = "CachedStore"


class Asked(Protocol):
    """What is asked of a metastore connection."""

    def config_value(self, name: str) -> str:
        """Return one of the metastore's own settings."""

    def current_notification_id(self) -> int:
        """Return the id of the newest event."""

    def notifications_after(self, event_id: int, limit: int) -> list[Any]:
        """Return the next events."""


def check_surroundings(metastore: Asked, fs: FileSystem, root: LakePath, *, tag: str) -> None:
    """Refuse to act by a metastore that answers from a cache, or where clocks differ.

    The metastore's clock is the newest event's time: one that lies ahead is seen here. One that
    lies behind looks like a quiet lake; the follower of events sees it.

    Raises:
        StaleState: `act.cached_metastore` or `act.clocks`.
    """
    store = metastore.config_value(_RAW_STORE)
    if _CACHED in store:
        raise StaleState(
            "act.cached_metastore",
            f"The metastore answers from a cache ({_RAW_STORE} is {store}), so what it says of a "
            "table may be old. Name one in lakes.json that reads its database.",
        )
    _check_clock("file system", _file_system_seconds(fs, root, tag), is_ahead_only=False)
    newest = metastore.current_notification_id()
    for event in metastore.notifications_after(newest - 1, 1) if newest else ():
        _check_clock("metastore", float(event.eventTime), is_ahead_only=True)


def _file_system_seconds(fs: FileSystem, root: LakePath, tag: str) -> float:
    """Return the file system's time: that of a directory made now."""
    probe = root.child(f".clock-{tag}")
    fs.make_directories(probe, mode=0o700)
    fs.remove_empty_directory(probe)
    fs.make_directory(probe, mode=0o700)
    status = fs.status(probe)
    fs.remove_empty_directory(probe)
    return status.mtime_ms / 1000 if status is not None else 0.0


def _check_clock(whose: str, seconds: float, *, is_ahead_only: bool) -> None:
    apart = seconds - datetime.now(UTC).timestamp()
    if apart > MOST_APART_SECONDS or (not is_ahead_only and apart < -MOST_APART_SECONDS):
        raise StaleState(
            "act.clocks",
            f"The clock of the {whose} is {apart:+.0f} s from this machine's. Nothing is moved "
            f"while they differ by more than {MOST_APART_SECONDS} s; set the clocks right.",
            seconds=round(apart),
        )
