"""Decides whether the last-chance notices of a backup allow its purge, and who must get one."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

MOVED = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Recipients:
    """Who is to be told of a backup: its owner, and the others who answer for its database."""

    owners: tuple[str, ...]
    others: tuple[str, ...]

    @property
    def everyone(self) -> tuple[str, ...]:
        """All of them, each once."""
        return tuple(dict.fromkeys((*self.owners, *self.others)))


def names_the_date(announced: datetime | None, purge_after: datetime | None) -> bool:
    """Return whether a notice named the date on which the purge is due, give or take a day.

    The date moves while the emergency stop is on and when a restore is undone.
    """
    if announced is None or purge_after is None:
        return False
    return abs(purge_after - announced) <= MOVED


def may_be_purged(recipients: Recipients, notified: Collection[str]) -> bool:
    """Return whether the right people were notified: the owner, or all others where none is known.

    A mail to somebody else does not stand for the owner's.
    """
    if recipients.owners:
        return any(name in notified for name in recipients.owners)
    return bool(recipients.others) and all(name in notified for name in recipients.others)
