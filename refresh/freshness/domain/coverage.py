"""Decides what a completed refresh renews, and so whether an earlier write is visible.

In a catalog a table refresh renews everything that is cached of the table. Before catalogs it
renews only the list of partitions, so an updated partition must be named; of an unpartitioned
table it renews all there is.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime

from refresh.core.domain.versions import Dialect


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
