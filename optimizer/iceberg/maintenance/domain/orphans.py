"""Finds orphan files below a table: old, in its own place, and not named by anything of it.

Pure, and on the safe side. Paths are compared without scheme and authority, so that another
spelling of the same place never makes a file unknown; a file whose name alone is known somewhere is
doubtful and left alone, as is all below a name that begins with `_` or `.`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from optimizer.policies.domain.policy import LEAST_ORPHAN_DAYS
from portal.lake.paths import LakePath

PREFIX = r"^[a-zA-Z][a-zA-Z0-9+.-]*:(//[^/]*)?"
"""The scheme and authority of a path's text, alike for Python and for Spark."""
SLASHES = "/+"
_PREFIX, _SLASHES = re.compile(PREFIX), re.compile(SLASHES)
_HINT = "version-hint.text"


class Left(StrEnum):
    """Why a file is left where it is."""

    OUTSIDE = "OUTSIDE"  # not below the table's place
    HIDDEN = "HIDDEN"
    YOUNG = "YOUNG"
    KNOWN = "KNOWN"
    DOUBTFUL = "DOUBTFUL"  # its name is known, under another path
    CHANGED = "CHANGED"  # since the list was created: gone, or written again


@dataclass(frozen=True, slots=True)
class FoundFile:
    """One file as a listing shows it."""

    path: LakePath
    size: int
    mtime_ms: int


@dataclass(slots=True)
class Known:
    """What the table's metadata names: paths without their file system, and bare names."""

    paths: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)

    def add(self, texts: Iterable[str]) -> None:
        """Take names in, in whatever spelling the metadata has them."""
        for text in texts:
            path = bare(text)
            self.paths.add(path)
            self.names.add(path.rpartition("/")[2])


def bare(text: str) -> str:
    """Return a path without scheme and authority, whatever spelling it has."""
    return _SLASHES.sub("/", _PREFIX.sub("", text, count=1))


def old_before_ms(*, orphan_days: int, now: datetime) -> int:
    """Give the instant before which a file must have been written; the policy may ask for more."""
    days = max(LEAST_ORPHAN_DAYS, orphan_days)
    return int((now - timedelta(days=days)).timestamp() * 1000)


def left_by_itself(file: FoundFile, *, place: LakePath, before_ms: int) -> Left | None:
    """Return why a file is left whatever the metadata names; None leaves it to `left_by_names`."""
    if file.path == place or not file.path.is_at_or_under(place):
        return Left.OUTSIDE
    below = file.path.segments[place.depth :]
    if any(name.startswith(("_", ".")) for name in below):
        return Left.HIDDEN
    if file.mtime_ms > before_ms:
        return Left.YOUNG
    return Left.KNOWN if file.path.name == _HINT else None


def left_by_names(file: FoundFile, known: Known) -> Left | None:
    """Return why a file is left because of what the metadata names."""
    if file.path.path in known.paths:
        return Left.KNOWN
    return Left.DOUBTFUL if file.path.name in known.names else None


def reason_left(file: FoundFile, *, place: LakePath, known: Known, before_ms: int) -> Left | None:
    """Return why a file is left; None means that it is an orphan."""
    return left_by_itself(file, place=place, before_ms=before_ms) or left_by_names(file, known)
