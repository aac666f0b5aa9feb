"""Tells who keeps aggregates which queries over Hudi tables come again and again.

Iceberg tables have cubes for that, which `cube_orders` advises.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date, datetime

from django.db.models import Sum

from optimizer.advice.domain.stars.cube_advice import LEAST_QUERIES, Candidate, candidates
from optimizer.advice.domain.stars.selects import can_be_kept, held_by_select, select_of
from optimizer.iceberg.tables.selectors.groupings import (
    GroupingUse,
    groupings_summed,
    recorded_groupings,
)
from optimizer.iceberg.tables.selectors.scans import since as first_day
from optimizer.models import HudiGrouping, HudiTable
from portal.catalog.domain.repeated_queries import RepeatedGrouping, RepeatedQueries

MOST_TABLES = 200
"""That are looked at in a turn: those of which queries read most."""
MOST_OF_A_TABLE = 3
MOST_GROUPINGS = 30
"""That are told of one aggregate; those beyond read least, and are counted in none."""


class HudiQueryLog:
    """Queries that group Hudi tables, as `queries` recorded them."""

    def repeated(
        self, lake: str, kept: Mapping[str, Sequence[str]], *, now: datetime
    ) -> Iterator[RepeatedQueries]:
        """Return what would answer repeated queries of four weeks, the tables read most first."""
        lately = HudiGrouping.objects.filter(
            table__lake=lake, table__is_deleted=False, day__gte=first_day(now)
        )
        sums = lately.order_by().values("table").annotate(n=Sum("n_queries"), read=Sum("n_bytes"))
        most = sums.filter(n__gte=LEAST_QUERIES).order_by("-read", "table")[:MOST_TABLES]
        read = {one["table"]: one["read"] for one in most}
        rows = HudiTable.objects.in_bulk(read)
        for pk, n_bytes in read.items():
            row = rows[pk]
            yield from _of_table(row, kept.get(str(row).lower(), ()), n_bytes, now=now)

    def n_asked(
        self, lake: str, table: str, *, since: date, digests: Collection[str] | None = None
    ) -> int:
        """Return how many queries grouped a table since a day."""
        db, _, name = table.partition(".")
        rows = HudiGrouping.objects.filter(
            table__lake=lake, table__db=db, table__table=name, day__gte=since
        )
        if digests is not None:
            rows = rows.filter(digest__in=digests)
        return rows.aggregate(n=Sum("n_queries"))["n"] or 0

    def hears(self, lake: str, *, since: date) -> bool:
        """Return whether any query that groups a Hudi table was heard of since a day."""
        return HudiGrouping.objects.filter(table__lake=lake, day__gte=since).exists()


def _of_table(
    row: HudiTable, kept: Sequence[str], n_bytes: int, *, now: datetime
) -> Iterator[RepeatedQueries]:
    name = str(row).lower()
    groupings = [one for one in recorded_groupings(row, now=now) if can_be_kept(one.wanted)]
    holds = [read[1] for sql in kept if (read := held_by_select(sql)) and read[0] == name]
    found, _ = candidates(groupings, holds)
    if not found:
        return
    told = {one.digest: one for one in groupings_summed(row, now=now)}
    for one in found[:MOST_OF_A_TABLE]:
        yield _repeated(row, one, told, n_bytes)


def _repeated(
    row: HudiTable, candidate: Candidate, told: Mapping[str, GroupingUse], read: int
) -> RepeatedQueries:
    table = str(row).lower()
    name, sql = select_of(candidate.held, table)
    return RepeatedQueries(
        table,
        name,
        sql,
        tuple(
            RepeatedGrouping(
                digest=one.digest,
                dimensions=use.dimensions,
                measures=use.measures,
                tables=use.tables,
                shape=use.shape,
                n_queries=use.n_queries,
                n_days=use.n_days,
                n_bytes=use.n_bytes,
                seconds=use.seconds,
            )
            for one in candidate.answered[:MOST_GROUPINGS]
            if (use := told.get(one.digest)) is not None
        ),
        candidate.n_days,
        read,
        (row.base_bytes or 0) + (row.log_bytes or 0) or None,
    )
