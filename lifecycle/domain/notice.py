"""Who must be told about a table, and how far ahead a notice looks.

Whether a sent notice covers an item is `plan.is_announced`; what the mail looks like is the ui's.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date, timedelta

NOTICE_DAYS = 7


@dataclass(frozen=True, slots=True)
class Responsible:
    """Whom a table's notice goes to, and the owners named in the lake who are nobody we know."""

    usernames: tuple[str, ...]
    unknown: tuple[str, ...]


def responsible_for(
    *,
    table_owner: str,
    db_owner: str,
    db_administrators: Iterable[str],
    known: Collection[str],
    fallback: Iterable[str] = (),
) -> Responsible:
    """Give the known people among table owner, database owner and the database's administrators.

    If nobody of them is known, the notice goes to `fallback` (the lake's admins), never to nobody.
    """
    wanted = dict.fromkeys(filter(None, [table_owner, db_owner, *db_administrators]))
    found = tuple(name for name in wanted if name in known)
    unknown = tuple(name for name in wanted if name not in known)
    return Responsible(found or tuple(dict.fromkeys(fallback)), unknown)


def horizon_on(today: date, *, notice_days: int = NOTICE_DAYS) -> date:
    """Give the last due day that a notice sent today speaks of."""
    return today + timedelta(days=notice_days)


def earliest_drop_on(due_on: date, *, sent_on: date, notice_days: int = NOTICE_DAYS) -> date:
    """Give the first day an announced item may go: a late notice moves the day, never the owner."""
    return max(due_on, sent_on + timedelta(days=notice_days))
