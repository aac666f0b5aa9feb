"""Tells who keeps aggregates which queries over Hudi tables come again and again.

Iceberg tables have cubes for that, which `cube_orders` advises.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta

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

MOST_TABLES = 1_000
"""That are looked at in a day: those of which queries read most."""
TABLES_A_TURN = 50
TURN = timedelta(hours=1)
MOST_USES = 200
"""Ways of grouping a table from which aggregates are put together: those that read most."""
MOST_OF_A_TABLE = 3
MOST_GROUPINGS = 30
"""That are told of one aggregate; those beyond read least, and are counted in none."""


class HudiQueryLog:
    """Queries that group Hudi tables, as `queries` recorded them."""

    def repeated(
        self, lake: str, kept: Mapping[str, Sequence[str]], *, now: datetime
    ) -> Iterator[tuple[str, list[RepeatedQueries]]]:
        """Return the tables of this hour's turn with what would answer their repeated queries."""
        lately = HudiGrouping.objects.filter(
            table__lake=lake, table__is_deleted=False, day__gte=first_day(now)
        )
        sums = lately.order_by().values("table").annotate(n=Sum("n_queries"), read=Sum("n_bytes"))
        most = sums.filter(n__gte=LEAST_QUERIES).order_by("-read", "table")[:MOST_TABLES]
        read = {one["table"]: one["read"] for one in most}
        for pk, row in HudiTable.objects.in_bulk(_turn(list(read), now)).items():
            name = str(row).lower()
            yield name, _of_table(row, kept.get(name, ()), read[pk], now=now)

    def n_asked(self, lake: str, table: str, *, since: date, digests: Collection[str]) -> int:
        """Return how many queries grouped a table in one of some ways since a day."""
        db, _, name = table.partition(".")
        of_table = HudiGrouping.objects.filter(
            table__lake=lake, table__db=db, table__table=name, day__gte=since
        )
        rows = of_table.filter(digest__in=digests)
        return rows.aggregate(n=Sum("n_queries"))["n"] or 0

    def hears(self, lake: str, *, since: date) -> bool:
        """Return whether any query that groups a Hudi table was heard of since a day."""
        return HudiGrouping.objects.filter(table__lake=lake, day__gte=since).exists()


def _turn(tables: Sequence[int], now: datetime) -> Sequence[int]:
    """Return the tables of an hour, one part after the other."""
    n_turns = max(1, -(-len(tables) // TABLES_A_TURN))
    first = TABLES_A_TURN * (int(now.timestamp() // TURN.total_seconds()) % n_turns)
    return tables[first : first + TABLES_A_TURN]


def _of_table(
    row: HudiTable, kept: Sequence[str], n_bytes: int, *, now: datetime
) -> list[RepeatedQueries]:
    name = str(row).lower()
    uses = groupings_summed(row, now=now)[:MOST_USES]
    groupings = [one for one in recorded_groupings(uses) if can_be_kept(one.wanted)]
    holds = [read[1] for sql in kept if (read := held_by_select(sql)) and read[0] == name]
    found, _ = candidates(groupings, holds)
    if not found:
        return []
    told = {one.digest: one for one in uses}
    return [_repeated(row, one, told, n_bytes) for one in found[:MOST_OF_A_TABLE]]


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
                digest=use.digest,
                dimensions=use.dimensions,
                measures=use.measures,
                tables=use.tables,
                shape=use.shape,
                n_queries=use.n_queries,
                n_days=use.n_days,
                n_bytes=use.n_bytes,
                seconds=use.seconds,
            )
            for use in (told[one.digest] for one in candidate.answered[:MOST_GROUPINGS])
        ),
        candidate.n_days,
        read,
        row.n_bytes or None,
    )
