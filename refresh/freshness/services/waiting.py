"""Waits until a job's write is visible. The job polls, and each call is held a while.

A web thread is held for some seconds only, and few at a time; nothing is written.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import BoundedSemaphore

from portal.access.models import User
from portal.access.visibility import may_see
from portal.lake.errors import NotVisible, RuleViolation
from portal.lake.names import TableName
from refresh.changes.services.resolve_partitions import look_up, partitions_meant, table_named
from refresh.changes.services.webhooks import no_partition
from refresh.freshness.domain.coverage import Wish
from refresh.freshness.selectors.waiting import Asked, Seen, look
from refresh.models import WatchedTable

LONGEST_BLOCK = timedelta(seconds=20)
LOOK_EVERY_SECONDS = 0.5
# Of a process with a few threads some must stay free for people.
_blocking = BoundedSemaphore(2)
# The clocks of two of the portal's hosts may differ by so much.
_CLOCKS = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class WaitParams:
    """What a job wrote, when it was told (`written_at` of that answer), and how long it waits."""

    lake: str
    table: str
    partitions: Sequence[str]
    written_at: datetime
    timeout: timedelta
    is_strict: bool = True


@dataclass(frozen=True, slots=True)
class Clock:
    """What tells the time and lets it pass."""

    now: Callable[[], datetime]
    pause: Callable[[float], None] = field(default=time.sleep)


@dataclass(frozen=True, slots=True)
class Waited:
    """What was seen at last, and after how long to ask again (0: it is over)."""

    seen: Seen
    ask_again_seconds: int


def wait_until_visible(wish: WaitParams, *, user: User, clock: Clock) -> Waited:
    """Look until it is over, or for as long as one request is kept.

    Raises:
        RuleViolation: `refresh.written_at` lies ahead; a name that is none.
        NotVisible: no such lake, table or partition for this person.
        ExternalFailure: parts of names were given and the metastore does not answer.
    """
    began = clock.now()
    if wish.written_at > began + _CLOCKS:
        raise RuleViolation(
            "refresh.written_at",
            "written_at is ahead. Send what POST /api/refresh/ answered, unchanged.",
            written_at=wish.written_at.isoformat(),
        )
    asked = _asked(wish, user=user, began=began)
    seen = look(asked, now=began)
    if seen.is_over:
        return Waited(seen, 0)
    if not _blocking.acquire(blocking=False):
        return Waited(seen, 5)
    try:
        until = min(asked.deadline, began + LONGEST_BLOCK)
        while (now := clock.now()) < until:
            clock.pause(min(LOOK_EVERY_SECONDS, (until - now).total_seconds()))
            seen = look(asked, now=clock.now())
            if seen.is_over:
                break
    finally:
        _blocking.release()
    return Waited(seen, 0 if seen.is_over else 1)


def _asked(wish: WaitParams, *, user: User, began: datetime) -> Asked:
    hive = table_named(wish.lake, wish.table)
    there: frozenset[str] = frozenset()
    has_dropped = False
    if wish.partitions:
        found = look_up(hive, user=user, now=began)
        meant = partitions_meant(found, wish.partitions, now=began)
        if not (meant.there or meant.gone):
            raise no_partition(hive, meant.unmatched)
        is_partitioned = True
        there, has_dropped = frozenset(meant.there), bool(meant.gone)
    else:
        is_partitioned = _is_partitioned(hive, user=user)
    about = Wish(wish.written_at, is_partitioned, there, has_dropped)
    return Asked(hive, about, began + wish.timeout, wish.is_strict)


def _is_partitioned(hive: TableName, *, user: User) -> bool:
    """Say what was seen of a table that this person may see, without asking the metastore."""
    rows = WatchedTable.objects.filter(lake=str(hive.lake), db=hive.db, table=hive.table)
    row = rows.first()
    if not may_see(user, hive, owner=row.owner if row is not None else ""):
        raise NotVisible(
            "refresh.not_told",
            f"Nobody told the portal of {hive}, or you may not see it. Tell it first "
            "(POST /api/refresh/), then wait for its written_at.",
            table=str(hive),
        )
    return row is None or row.is_partitioned is not False
