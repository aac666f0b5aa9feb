"""Decides what a completed refresh renews, and so whether an earlier write is visible.

In a catalog a table refresh renews everything that is cached of the table. Before catalogs it
renews only the list of partitions, so an updated partition must be named; of an unpartitioned
table it renews all there is. Of the completed refreshes some are kept for a front end; leaving one
out only makes less provable, never more: what it took in is owed again.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime, timedelta

from refresh.core.domain.versions import Dialect

KEPT_FOR = timedelta(hours=1)
MOST_ENTRIES = 200
MOST_NAMES = 5_000

Written = list[str | list[str]]


@dataclass(frozen=True, slots=True)
class Wish:
    """What somebody wrote and wants to see: the table itself, or full names of its partitions.

    `written_at` is an instant of the portal's own clock at which the write had ended. Partitions
    that were dropped cannot be named: with `has_dropped` the list of them must be renewed.
    """

    written_at: datetime
    is_partitioned: bool
    partitions: AbstractSet[str] = frozenset()
    has_dropped: bool = False


@dataclass(frozen=True, slots=True)
class CompletedRefresh:
    """A refresh that completed on one front end; no partitions = the table."""

    began_at: datetime
    ended_at: datetime
    partitions: AbstractSet[str] = frozenset()


def missing(
    wish: Wish,
    done: tuple[CompletedRefresh, ...],
    *,
    dialect: Dialect,
    after: datetime | None = None,
) -> tuple[str, ...]:
    """Say what no refresh renewed since the write: names of partitions, `""` for the table.

    Only one that began after the write ended counts, because an earlier one may have read the
    metastore before. `after` asks for a later begin still.
    """
    since = wish.written_at if after is None else max(wish.written_at, after)
    counted = [one for one in done if one.began_at > since]
    has_table = any(not one.partitions for one in counted)
    if dialect is Dialect.CATALOGS or not wish.is_partitioned:
        if has_table:
            return ()
        needs_table = wish.has_dropped or not wish.partitions
    else:
        needs_table = not has_table
    return (*(("",) if needs_table else ()), *sorted(_unnamed(wish, counted)))


def _unnamed(wish: Wish, done: Sequence[CompletedRefresh]) -> set[str]:
    # Looked up one by one, because a request mostly names one and a list of refreshes thousands.
    return {name for name in wish.partitions if not any(name in one.partitions for one in done)}


def is_provable(wish: Wish, *, dialect: Dialect) -> bool:
    """Whether refreshes can prove the request at all.

    Before catalogs nothing renews all partitions at once: those written must be named.
    """
    is_named = bool(wish.partitions) or wish.has_dropped
    return dialect is Dialect.CATALOGS or not wish.is_partitioned or is_named


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
