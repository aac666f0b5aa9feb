"""Completed refreshes that are kept for a front end, and their stored form.

Leaving one out only makes less provable, never more: what it took in is owed again.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from refresh.freshness.domain.coverage import CompletedRefresh

KEPT_FOR = timedelta(hours=1)
MOST_ENTRIES = 200
MOST_NAMES = 5_000

Written = list[str | list[str]]


def read_done(rows: Sequence[Sequence[str | list[str]]]) -> tuple[CompletedRefresh, ...]:
    """Read `[[began, ended, [partitions]], ...]`."""
    return tuple(_read(*row) for row in rows)


def write_done(done: Sequence[CompletedRefresh]) -> list[Written]:
    """Write what `read_done` reads, oldest first."""
    return [
        [one.began_at.isoformat(), one.ended_at.isoformat(), sorted(one.partitions)]
        for one in sorted(done, key=_age)
    ]


def pruned(
    done: Sequence[CompletedRefresh], *, now: datetime, unsettled_since: datetime | None
) -> tuple[CompletedRefresh, ...]:
    """Leave out what proves nothing that a newer one does not, and then the oldest; oldest first.

    Kept are the last hour (for those who wait), the newest refresh of the table, and whatever
    began after the oldest change that somebody still owes. Beyond the limits the oldest go first;
    the newest stays whatever its size. Settle changes after every statement, so that few of a big
    table's are needed.
    """
    since = min(filter(None, (now - KEPT_FOR, unsettled_since)))
    newest = _newest_of_each(done)
    table = [one for one in newest if not one.partitions]
    named = [one for one in newest if one.partitions]
    kept: list[CompletedRefresh] = []
    room = MOST_NAMES
    for one in named[: MOST_ENTRIES - len(table)]:
        room -= len(one.partitions)
        if kept and (room < 0 or one.began_at <= since):
            break
        kept.append(one)
    return tuple(sorted([*table, *kept], key=_age))


def _newest_of_each(done: Sequence[CompletedRefresh]) -> list[CompletedRefresh]:
    """Name the table and each partition once, where they began last; newest first.

    A later begin proves all that an earlier one does.
    """
    found: list[CompletedRefresh] = []
    has_table = False
    seen: set[str] = set()
    for one in sorted(done, key=_age, reverse=True):
        fresh = frozenset(one.partitions - seen)
        if fresh or not (one.partitions or has_table):
            found.append(CompletedRefresh(one.began_at, one.ended_at, fresh))
        has_table = has_table or not one.partitions
        seen |= fresh
    return found


def _age(done: CompletedRefresh) -> tuple[datetime, datetime]:
    return done.began_at, done.ended_at


def _read(began: object, ended: object, partitions: object) -> CompletedRefresh:
    names = partitions if isinstance(partitions, list) else ()
    return CompletedRefresh(
        datetime.fromisoformat(str(began)), datetime.fromisoformat(str(ended)), frozenset(names)
    )
