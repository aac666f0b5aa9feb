"""Keeps recorded queries in segments on the portal's disk until a run writes them to the lake.

Each process of the portal appends to a segment of its own, under a lock of the file that is held
for one write. So anybody may close a segment, also one whose process was killed: the next to
append sees that the file is no longer under its name. What does not fit is not kept, and no
engine ever waits for the disk of another.
"""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from threading import Lock
from uuid import uuid4

from django.conf import settings

from optimizer.queries.domain.segments import (
    CLOSED,
    MOST_SEGMENTS,
    OPEN,
    SEGMENT_BYTES,
    is_old,
    is_segment,
    segment_name,
)

_TRIES = 50
"""Segments that are begun for one line, where others close each at once."""
_LOOK_SECONDS = 1.0
"""How long the size of the folder is taken for what it was."""


class SegmentWriter:
    """Appends to one folder for this process; threads may share it."""

    def __init__(self, folder: Path, *, most_bytes: int) -> None:
        self.folder, self._most_bytes = folder, most_bytes
        self._lock = Lock()
        self._pid = os.getpid()
        self._fd: int | None = None
        self._path = folder
        self._written = 0
        self._shapes: set[str] = set()
        self._used, self._looked_at = 0, float("-inf")

    def append(self, digest: str, shape_line: bytes, line: bytes, *, now: datetime) -> bool:
        """Append a line, and before it its shape's where the segment has none; False: no room.

        What was written whole is in the file when this returns, and on the disk when the segment
        is closed.
        """
        with self._lock:
            if self._pid != os.getpid():
                # This process was forked: the segment is its parent's.
                self._fd, self._pid, self._shapes = None, os.getpid(), set()
            try:
                if self._is_full(len(shape_line) + len(line)):
                    return False
                return self._append(digest, shape_line, line, now=now)
            except OSError:
                self._leave()
                return False

    def _append(self, digest: str, shape_line: bytes, line: bytes, *, now: datetime) -> bool:
        fd = self._locked(now)
        try:
            data = line if digest in self._shapes else shape_line + line
            n_written = os.write(fd, data)
            self._written += n_written
            self._used += n_written
            is_whole = n_written == len(data)
            self._shapes.add(digest)
            if not is_whole or self._written >= SEGMENT_BYTES or is_old(self._path.stem, now):
                _close(fd, self._path)
                self._leave()
            return is_whole
        finally:
            if self._fd is not None:
                fcntl.flock(fd, fcntl.LOCK_UN)

    def _locked(self, now: datetime) -> int:
        """Return this process's segment, locked; a new one where somebody closed it."""
        if self._fd is not None:
            fcntl.flock(self._fd, fcntl.LOCK_EX)
            if _is_under(self._path, self._fd):
                return self._fd
            self._leave()
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for _ in range(_TRIES):
            self._path = self.folder / f"{segment_name(now, uuid4().hex)}{OPEN}"
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            self._fd = os.open(self._path, flags, 0o600)
            fcntl.flock(self._fd, fcntl.LOCK_EX)
            if _is_under(self._path, self._fd):
                return self._fd
            self._leave()
        raise BlockingIOError("each segment was closed as soon as it was begun")

    def _leave(self) -> None:
        fd, self._fd = self._fd, None
        self._written, self._shapes = 0, set()
        if fd is not None:
            with contextlib.suppress(OSError):
                os.close(fd)

    def _is_full(self, n_bytes: int) -> bool:
        if time.monotonic() - self._looked_at > _LOOK_SECONDS:
            sizes = _sizes(self.folder)
            self._used, self._looked_at = sum(sizes), time.monotonic()
            if len(sizes) >= MOST_SEGMENTS:
                self._used = self._most_bytes
        return self._used + n_bytes > self._most_bytes


def spool_folder(lake: str) -> Path:
    """Return where a lake's recorded queries wait."""
    return Path(settings.LAKEWARDEN_VAR) / "recorded_queries" / lake


_writers: dict[Path, SegmentWriter] = {}
_writers_lock = Lock()


def spool_append(lake: str, digest: str, *, shape_line: bytes, line: bytes, now: datetime) -> bool:
    """Append a query's line to this process's segment of a lake; False where it is not kept."""
    folder, most = spool_folder(lake), settings.LAKEWARDEN_RECORDED_QUERY_MIB * 1024**2
    with _writers_lock:
        writer = _writers.get(folder)
        if writer is None:
            writer = _writers[folder] = SegmentWriter(folder, most_bytes=most)
    return writer.append(digest, shape_line, line, now=now)


def segments_close(lake: str, *, now: datetime, is_all: bool = False) -> None:
    """Close the segments that are old, or all; whose process was killed too. Twice is harmless."""
    for path in _files(spool_folder(lake)):
        if path.suffix == OPEN and (is_all or is_old(path.stem, now)):
            with contextlib.suppress(OSError):
                _close_other(path)


def segments_closed(lake: str, *, most: int) -> list[str]:
    """Return the names of closed segments, the oldest first."""
    names = (one.stem for one in _files(spool_folder(lake)) if one.suffix == CLOSED)
    return sorted(names)[:most]


def segment_read(lake: str, name: str) -> bytes | None:
    """Return a closed segment; None where it is not there (any more)."""
    try:
        return _closed(lake, name).read_bytes()
    except FileNotFoundError:
        return None


def segments_remove(lake: str, names: Iterable[str]) -> None:
    """Remove closed segments that are in the lake's table; twice is harmless."""
    for name in names:
        _closed(lake, name).unlink(missing_ok=True)


def _closed(lake: str, name: str) -> Path:
    if not is_segment(name):
        raise ValueError(f"{name!r} is no segment")
    return spool_folder(lake) / f"{name}{CLOSED}"


def _sizes(folder: Path) -> list[int]:
    """Return the bytes of each segment; those that a run takes away meanwhile are left out."""
    found = []
    for one in _files(folder):
        with contextlib.suppress(FileNotFoundError):
            found.append(one.stat().st_size)
    return found


def _files(folder: Path) -> list[Path]:
    """Return the segments of a folder; one that goes meanwhile is passed over by the caller."""
    try:
        found = list(folder.iterdir())
    except FileNotFoundError:
        return []
    return [one for one in found if is_segment(one.stem) and one.suffix in (OPEN, CLOSED)]


def _close_other(path: Path) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        if _is_under(path, fd):
            _close(fd, path)
    finally:
        os.close(fd)


def _close(fd: int, path: Path) -> None:
    """Bring a segment to the disk, and then under the name by which runs find it."""
    os.fsync(fd)
    path.rename(path.with_suffix(CLOSED))
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _is_under(path: Path, fd: int) -> bool:
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    here = os.fstat(fd)
    return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)
