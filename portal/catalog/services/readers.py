"""Registry of who is known to read a table; the platform names none of those who know it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from portal.access.models import User


@dataclass(frozen=True, slots=True)
class Reader:
    """One reader of a table, or one sort of query that reads it."""

    kind: str
    """What it is, in a word or two: `Recorded query`."""
    name: str
    url: str
    detail: str = ""
    last_at: datetime | None = None


ReaderFinder = Callable[[str, str, str, User], Sequence[Reader]]
"""Finds the readers of a lake's database and table, of those that a person may see."""

_finders: list[ReaderFinder] = []


def register_table_readers(finder: ReaderFinder) -> None:
    """Add who knows of readers; twice it is asked once."""
    if finder not in _finders:
        _finders.append(finder)


def readers_of_table(lake: str, db: str, table: str, user: User) -> list[Reader]:
    """Return all that is known of the readers of a table."""
    return [one for finder in _finders for one in finder(lake, db, table, user)]
