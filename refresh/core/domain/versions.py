"""StarRocks version of a front end, and the differences it makes for the portal.

Before catalogs (2.3) tables hang on resources, and all refreshes of a front end wait for one lock.
A build of its main line, or one whose version cannot be read, counts as the newest.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

_RELEASE = re.compile(r"\s*v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?")
_FIRST_WITH_CATALOGS = (2, 3)


class Dialect(StrEnum):
    """Which of the two kinds of cache a front end has."""

    RESOURCES = "RESOURCES"
    CATALOGS = "CATALOGS"


@dataclass(frozen=True, slots=True)
class Version:
    """A version as a front end gives it; `release` is None where there are no numbers to read."""

    text: str
    release: tuple[int, int, int] | None

    @classmethod
    def read(cls, text: str) -> "Version":
        """Read `3.3.5-abcdef`, `2.2.9` or any other text; never refuses one."""
        match = _RELEASE.match(text)
        if match is None:
            return cls(text, None)
        return cls(text, (int(match[1]), int(match[2]), int(match[3] or 0)))

    @property
    def dialect(self) -> Dialect:
        """The kind of cache that this version has."""
        if self.release is not None and self.release[:2] < _FIRST_WITH_CATALOGS:
            return Dialect.RESOURCES
        return Dialect.CATALOGS

    def __str__(self) -> str:
        return self.text


def oldest(dialects: Iterable[Dialect]) -> Dialect:
    """Return a cluster's dialect; while it is upgraded, the older one's statements fit both."""
    return Dialect.RESOURCES if Dialect.RESOURCES in set(dialects) else Dialect.CATALOGS
