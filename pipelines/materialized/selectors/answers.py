"""Tells who rewrites queries of the materializations of tables."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import timedelta

import msgspec

from pipelines.materialized.domain.answers import Unanswering, answering
from pipelines.materialized.domain.kept_columns import ROWS
from pipelines.materialized.domain.messages import Types
from pipelines.materialized.domain.refusals import Refused
from pipelines.models import Materialization
from portal.lake.aggregates import SourceCommit, StoredAggregate

MOST = 200
"""Of the tables of one query so many are looked at."""


def materializations_answering(lake: str, tables: Sequence[str]) -> Iterator[StoredAggregate]:
    """Yield the materializations of tables that have been computed, each with its commits."""
    rows = Materialization.objects.filter(lake=lake, source__in=tables).order_by("pk")
    for row in rows[:MOST]:
        with suppress(Unanswering):
            yield stored_aggregate(row)


def unanswering_reason(row: Materialization) -> str:
    """Return why no query is answered from it whatever its age; empty: some may be."""
    try:
        return stored_aggregate(row).problem
    except Unanswering as error:
        return str(error)


def stored_aggregate(row: Materialization) -> StoredAggregate:
    """Describe a materialization.

    Raises:
        Unanswering: it cannot be compared with queries.
    """
    if not row.types:
        raise Unanswering("it has not been computed yet")
    try:
        said = answering(row.definition, msgspec.convert(row.types, Types))
    except Refused as error:  # it was set when more was accepted
        raise Unanswering(f"its definition is not accepted any more: {error}") from error
    return StoredAggregate(
        name=str(row),
        table=str(row),
        format="hudi",
        source=row.source,
        joins=said.joins,
        dimensions=said.dimensions,
        measures=said.measures,
        filters=said.filters,
        rows_column=ROWS,
        commits={
            name: SourceCommit(one["table"], one.get("commit", ""))
            for name, one in row.positions.items()
        },
        known_at=row.fresh_at,
        max_lag=timedelta(minutes=row.max_lag_minutes),
        n_rows=row.n_groups,
        source_rows=row.n_rows,
        problem=f"its last refresh failed: {row.problem}" if _is_doubtful(row) else "",
    )


def _is_doubtful(row: Materialization) -> bool:
    """Whether the table itself may be wrong, not only behind."""
    return row.problem_code.startswith("commits.")
