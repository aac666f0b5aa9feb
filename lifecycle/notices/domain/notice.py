"""Who must be told about a table, and how far ahead a notice looks.

Whether a sent notice covers an item is `plan.is_announced`; what the mail looks like is the ui's.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

NOTICE_DAYS = 7


@dataclass(frozen=True, slots=True)
class Responsible:
    """Whom a table's notice goes to, and who of those named in the lake cannot be written to."""

    usernames: tuple[str, ...]
    unknown: tuple[str, ...]
    left: tuple[str, ...] = ()
    """Those of the unknown who were known once: they have left."""

    @property
    def strangers(self) -> tuple[str, ...]:
        """Return the unknown whom nobody ever knew, or who have no mail address."""
        return tuple(name for name in self.unknown if name not in self.left)


def responsible_for(
    *,
    table_owner: str,
    db_owner: str,
    db_administrators: Iterable[str],
    known: Collection[str],
    fallback: Iterable[str] = (),
    stand_for: Mapping[str, tuple[str, ...]] | None = None,
) -> Responsible:
    """Return the known people among table owner, database owner and the database's administrators.

    `stand_for` names the people behind an owner who is no person; they take its place. If nobody of
    them is known, the notice goes to `fallback` (the lake's admins), never to nobody.
    """
    named = people_behind([table_owner, db_owner, *db_administrators], stand_for or {})
    wanted = dict.fromkeys(named)
    found = tuple(name for name in wanted if name in known)
    unknown = tuple(name for name in wanted if name not in known)
    return Responsible(found or tuple(dict.fromkeys(fallback)), unknown)


def people_behind(
    names: Iterable[str], stand_for: Mapping[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """Return the people that owners' names mean: who stands behind one, else the name itself."""
    return tuple(person for name in names if name for person in stand_for.get(name, (name,)))


@dataclass(frozen=True, slots=True)
class Sent:
    """A notice that was sent: up to which due day it spoke, and on which day it went."""

    horizon_on: date
    sent_on: date


def first_drop_on(due_on: date, sent: Iterable[Sent], *, notice_days: int) -> date | None:
    """Return the first day on which what is due on a day may go; None while no notice covers it."""
    days = (
        earliest_drop_on(due_on, sent_on=one.sent_on, notice_days=notice_days)
        for one in sent
        if due_on <= one.horizon_on
    )
    return min(days, default=None)


def is_told_a_day_ahead(first_on: date, *, today: date, last_notified_on: date | None) -> bool:
    """Whether today's day-ahead mail speaks of what may go from `first_on`.

    Each is told once: on the day before, or on the first day after that on which a scan ran.
    """
    day = timedelta(days=1)
    return first_on <= today + day and (
        last_notified_on is None or first_on > last_notified_on + day
    )


def horizon_on(today: date, *, notice_days: int = NOTICE_DAYS) -> date:
    """Return the last due day that a notice sent today speaks of."""
    return today + timedelta(days=notice_days)


def earliest_drop_on(due_on: date, *, sent_on: date, notice_days: int = NOTICE_DAYS) -> date:
    """Give the first day an announced item may go: a late notice moves the day, never the owner."""
    return max(due_on, sent_on + timedelta(days=notice_days))
