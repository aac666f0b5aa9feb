"""Says what queries grouped a table by lately, as engines told of them."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime

from django.db.models import Max, Sum

from optimizer.advice.domain.asked import Aggregate
from optimizer.advice.domain.stars.cube_advice import RecordedGrouping
from optimizer.advice.domain.stars.names import tables_in
from optimizer.core.models import MaintainedTable, table_models
from optimizer.iceberg.tables.selectors.scans import since
from portal.access.models import User
from portal.access.visibility import visible_to
from portal.catalog.selectors import is_named

MOST_READ = 2_000
"""Groupings of a table in four weeks; those beyond read least."""
_MEASURE = re.compile(r"([a-z ]+)\((.*)\)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class GroupingUse:
    """Queries of four weeks that grouped in one way; `refused` says why no cube answers them.

    Without a digest it is all that was not told apart. A shape is empty where it names a table that
    the person may not see.
    """

    digest: str
    dimensions: tuple[str, ...]
    measures: tuple[str, ...]
    joins: tuple[str, ...]
    tables: tuple[str, ...]
    refused: str
    n_queries: int
    n_bytes: int
    seconds: float
    days: frozenset[date]
    last_at: datetime
    shape: str

    @property
    def n_days(self) -> int:
        """Days on which such queries came."""
        return len(self.days)


def groupings_lately(row: MaintainedTable, user: User, *, now: datetime) -> list[GroupingUse]:
    """Return what queries of four weeks grouped a table by, the dearest first.

    Groupings over a joined table that the person may not see are left out.
    """
    found = groupings_summed(row, now=now)
    named = {name for one in found for name in (*one.tables, *tables_in(one.joins))}
    seen = tables_seen(row.lake, user, named)
    return [
        one if set(one.tables) <= seen else replace(one, shape="")
        for one in found
        if tables_in(one.joins) <= seen
    ]


def groupings_summed(row: MaintainedTable, *, now: datetime) -> list[GroupingUse]:
    """Return the same whoever asks."""
    lately = row.groupings.filter(day__gte=since(now)).order_by()
    summed = (
        lately.values("digest")
        .annotate(
            n=Sum("n_queries"),
            n_bytes=Sum("n_bytes"),
            seconds=Sum("seconds"),
            last_at=Max("last_at"),
            one=Max("pk"),
        )
        .order_by("-n_bytes", "-n", "digest")[:MOST_READ]
    )
    sums = list(summed)
    rows = row.groupings.in_bulk([one["one"] for one in sums])
    days: defaultdict[str, set[date]] = defaultdict(set)
    for digest, day in lately.values_list("digest", "day"):
        days[digest].add(day)
    return [
        GroupingUse(
            digest=one["digest"],
            dimensions=tuple(told.dimensions),
            measures=tuple(told.measures),
            joins=tuple(told.joins),
            tables=tuple(told.tables),
            refused=told.refused,
            n_queries=one["n"],
            n_bytes=one["n_bytes"],
            seconds=one["seconds"],
            days=frozenset(days[one["digest"]]),
            last_at=one["last_at"],
            shape=told.shape,
        )
        for one in sums
        if (told := rows.get(one["one"])) is not None
    ]


def recorded_groupings(uses: Iterable[GroupingUse]) -> list[RecordedGrouping]:
    """Return the same as advice takes it."""
    return [
        RecordedGrouping(
            digest=one.digest,
            dimensions=frozenset(one.dimensions),
            measures=frozenset(map(_measure, one.measures)),
            joins=frozenset(one.joins),
            n_queries=one.n_queries,
            n_bytes=one.n_bytes,
            seconds=one.seconds,
            days=one.days,
            refused=one.refused,
        )
        for one in uses
    ]


def tables_seen(lake: str, user: User, names: Iterable[str]) -> frozenset[str]:
    """Return which of some tables of any format, as `db.table`, the person may see."""
    pairs = [(name.partition(".")[0], name.partition(".")[2]) for name in sorted(set(names))]
    if not pairs:
        return frozenset()
    named = is_named(pairs, column="table")
    return frozenset(
        f"{db}.{table}".lower()
        for model in table_models()
        for db, table in model._default_manager.filter(
            named, visible_to(user), lake=lake, is_deleted=False
        ).values_list("db", "table")
    )


def _measure(text: str) -> Aggregate:
    found = _MEASURE.fullmatch(text)
    return Aggregate(found[1], found[2]) if found else Aggregate(text, "")
