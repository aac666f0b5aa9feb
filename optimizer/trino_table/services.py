"""Reads Trino's table of queries on: each query once, whether it came by HTTP too or not."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F

from optimizer.models import RecordedQuery, TrinoQueryTable
from optimizer.queries.domain.trino_rows import began_at, id_at, read_row
from optimizer.queries.services.taking import query_take
from optimizer.trino_table.connectors.mysql import TrinoTable
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.access.services import get_user
from portal.connectors.lake_config import TrinoQueriesDb
from portal.lake.errors import ExternalFailure, RuleViolation

LOOKS = (timedelta(minutes=10), timedelta(hours=3), timedelta(hours=30))
"""How long after a query began its id is looked for; it is in the table from its end on."""
LATEST = timedelta(hours=36)
"""Ids before that are left alone: queries are known for two days, and might be counted twice."""
MOST_ROWS = 500
"""Queries that a turn takes; ids that are known cost little, and are not counted."""
BUDGET_SECONDS = 60.0
FIRST_WAIT, LONGEST_WAIT = timedelta(minutes=1), timedelta(minutes=30)
_IDS = 500
_AT_ONCE = 10
"""Rows in memory at a time: a plan and its inputs may have megabytes."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class TableRead:
    """What a turn did."""

    n_rows: int = 0
    """Queries that were taken."""
    n_known: int = 0
    """Queries that had been taken before, or had come by HTTP."""
    problem: str = ""


def trino_table_read(
    lake: str, *, now: datetime, clock: Callable[[], float] = time.monotonic
) -> TableRead:
    """Take the queries that are new in the table of a lake, as many as a turn may.

    Called again it goes on where the last row was taken; a row that was taken and not noted is
    known by its id. A table that cannot be read is noted, and tried again after a while.
    """
    database = get_lake(lake).trino_queries
    if database is None:
        return TableRead()
    row, _ = TrinoQueryTable.objects.get_or_create(lake=lake)
    done = TableRead()
    try:
        user = _reader(database)
        with TrinoTable.connect(database) as table:
            _Turn(row, table, database, user, done, now, clock).read()
    except (ExternalFailure, RuleViolation) as error:
        done.problem = error.message
        _failed(row, error.message, now=now)
    else:
        TrinoQueryTable.objects.filter(pk=row.pk).update(
            problem="", failing_since=None, n_failures=0, next_at=None, read_at=now
        )
    return done


def _reader(database: TrinoQueriesDb) -> User:
    user = get_user(database.as_user)
    if user is None or not user.is_active:
        raise RuleViolation(
            "queries.reader",
            f"Trino's table of queries is read for {database.as_user!r}, which is no open account. "
            "Name another one as `as_user` of `trino_queries` in lakes.json.",
        )
    return user


def _failed(row: TrinoQueryTable, problem: str, *, now: datetime) -> None:
    wait = min(FIRST_WAIT * 2 ** min(row.n_failures, 10), LONGEST_WAIT)
    logger.warning("%s: %s", row, problem)
    TrinoQueryTable.objects.filter(pk=row.pk).update(
        problem=problem[:1000],
        failing_since=row.failing_since or now,
        n_failures=F("n_failures") + 1,
        next_at=now + wait,
    )


@dataclass(slots=True)
class _Turn:
    row: TrinoQueryTable
    table: TrinoTable
    database: TrinoQueriesDb
    user: User
    done: TableRead
    now: datetime
    clock: Callable[[], float]

    def read(self) -> None:
        """Look for the ids of each age, the youngest first, within the budget of a turn."""
        until = self.clock() + BUDGET_SECONDS
        self._begin()
        for look in LOOKS:
            before = id_at(self.now - look)
            while (after := self.row.positions[_key(look)]) < before:
                ids = self.table.ids(after=after, before=before, most=_IDS)
                new = self._unknown(ids)
                for start in range(0, len(new), _AT_ONCE):
                    some = new[start : start + _AT_ONCE]
                    self._take(some, is_first=look == LOOKS[0])
                    self._note(look, some[-1])
                    if self.done.n_rows + _AT_ONCE > MOST_ROWS or self.clock() > until:
                        return
                self._note(look, ids[-1] if ids else before)
                if self.clock() > until:
                    return

    def _begin(self) -> None:
        """Begin with the present; after a long silence leave out what might be counted twice."""
        row, earliest = self.row, id_at(self.now - LATEST)
        first = id_at(self.now - LOOKS[0])
        positions = {_key(one): row.positions.get(_key(one), first) for one in LOOKS}
        last = positions[_key(LOOKS[0])]
        if last < earliest:
            row.left_out_from, row.left_out_until = began_at(last), self.now - LATEST
        row.positions = {key: max(one, earliest) for key, one in positions.items()}
        row.save(update_fields=["positions", "left_out_from", "left_out_until"])

    def _unknown(self, ids: Sequence[str]) -> list[str]:
        """Return those of which no row and no event was taken; most are known at a later look."""
        known = set(
            RecordedQuery.objects.filter(
                query_id__in=ids, lake=self.row.lake, user=self.user.username
            ).values_list("query_id", flat=True)
        )
        self.done.n_known += len(known)
        return [one for one in ids if one not in known]

    def _take(self, ids: Sequence[str], *, is_first: bool) -> None:
        n_odd = 0
        for one in self.table.rows(ids):
            try:
                record = read_row(one, catalog=self.database.catalog)
            except RuleViolation:
                n_odd += 1
                continue
            query_take(self.row.lake, record, user=self.user, now=self.now)
            self.done.n_rows += 1
        TrinoQueryTable.objects.filter(pk=self.row.pk).update(
            n_rows=F("n_rows") + len(ids) - n_odd,
            n_odd=F("n_odd") + (n_odd if is_first else 0),
        )

    def _note(self, look: timedelta, last: str) -> None:
        self.row.positions[_key(look)] = last
        self.row.save(update_fields=["positions"])


def _key(look: timedelta) -> str:
    return str(int(look.total_seconds() // 60))
