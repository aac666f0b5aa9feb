"""Reads the log of a run's driver where this host captured it: in windows from its end, or whole.

The file's name is made from the run's id and epoch alone. Every line goes through the removal of
secrets before it is compared or shown.
"""

import os
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from portal.log_lines import readable
from portal.runs.models import Run
from portal.runs.records.secrets import without_secrets
from portal.runs.records.spools import log_file

WINDOW = 1024**2
"""How many bytes are read at once; a line that is longer is left out."""
MOST_WINDOWS = 4
LINES = 200
LEFT_OUT = "[A line that is too long is left out.]"


@dataclass(frozen=True, slots=True)
class DriverLines:
    """A part of a log, its oldest line first."""

    lines: list[str]
    older: int | None
    """Where the part before it ends; None at the beginning of the log."""


def attempts_captured(run: Run) -> list[int]:
    """Return the attempts of a run of whose drivers this host has the log."""
    return [epoch for epoch in range(1, run.epoch + 1) if _is_captured(log_file(run, epoch=epoch))]


def driver_lines(
    run: Run, epoch: int, *, before: int | None, text: str, secrets: Collection[str]
) -> DriverLines:
    """Return the last lines with a text that end before a byte of the log, LINES at most.

    No more than MOST_WINDOWS windows are read: the part may have no line, and older ones follow.
    """
    with _opened(log_file(run, epoch=epoch)) as file:
        if file is None:
            return DriverLines([], None)
        size = os.fstat(file.fileno()).st_size
        end = size if before is None else min(before, size)
        found: list[str] = []
        for _ in range(MOST_WINDOWS):
            for start, raw in _window(file, end, size):
                end = start
                if (line := _fitting(raw, text, secrets)) is not None:
                    found.append(line)
                if len(found) == LINES:
                    break
            if end == 0 or len(found) == LINES:
                break
        return DriverLines(found[::-1], end or None)


def driver_log_whole(run: Run, epoch: int, *, secrets: Collection[str]) -> Iterator[str]:
    """Give every line of a log with its end, the oldest first."""
    with _opened(log_file(run, epoch=epoch)) as file:
        while file is not None and (raw := file.readline(WINDOW)):
            if len(raw) < WINDOW or raw.endswith(b"\n"):
                line = raw.decode(errors="replace")
                ending = "\n" if line.endswith("\n") else ""
                yield without_secrets(readable(line.rstrip("\r\n")), secrets) + ending
                continue
            while raw and not raw.endswith(b"\n"):
                raw = file.readline(WINDOW)
            yield LEFT_OUT + "\n"


def last_driver_lines(run: Run, *, n_lines: int, secrets: Collection[str]) -> list[str]:
    """Return the last lines of the driver of a run's current epoch."""
    return driver_lines(run, run.epoch, before=None, text="", secrets=secrets).lines[-n_lines:]


def _fitting(raw: str, text: str, secrets: Collection[str]) -> str | None:
    """Return a line without its secrets if it still has the text, else None."""
    wanted = text.casefold()
    told = readable(raw)
    if wanted not in told.casefold() and "*" not in wanted:
        return None
    line = told if told == LEFT_OUT else without_secrets(told, secrets)
    return line if wanted in line.casefold() else None


def _window(file: BinaryIO, end: int, size: int) -> Iterator[tuple[int, str]]:
    """Give the whole lines of the window before a place, the last first, and where each begins.

    Of a line that is cut nothing is given: half of a secret could not be told as one.
    """
    first = max(0, end - WINDOW)
    file.seek(first)
    raw = file.read(end - first)
    if first:
        cut = raw.find(b"\n", 0, -1) + 1
        if not cut:
            yield first, LEFT_OUT
            return
        first, raw = first + cut, raw[cut:]
    lines, at = raw.splitlines(keepends=True), first + len(raw)
    if end < size and lines and not lines[-1].endswith((b"\n", b"\r")):
        at -= len(lines.pop())
        yield at, LEFT_OUT
    for line in reversed(lines):
        at -= len(line)
        yield at, line.decode(errors="replace").rstrip("\r\n")


def _is_captured(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO | None]:
    """Open a log that is a file of its own, never what a link leads to; None where none is."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        yield None
        return
    with os.fdopen(handle, "rb") as file:
        yield file if stat.S_ISREG(os.fstat(handle).st_mode) else None
