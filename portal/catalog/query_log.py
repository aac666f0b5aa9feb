"""Says what engines told of queries: which came again and again, and how many came since.

An area that hears of queries registers its log; areas that keep aggregates ask it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Protocol

from portal.catalog.domain.repeated_queries import RepeatedQueries


class QueryLog(Protocol):
    """What an area knows of queries that group tables of a lake."""

    def repeated(
        self, lake: str, kept: Mapping[str, Sequence[str]], *, now: datetime
    ) -> Iterable[RepeatedQueries]:
        """Return what would answer repeated queries of four weeks, the tables read most first.

        `kept` has the definitions of the aggregates that there are, by table; queries that these
        answer are left out.
        """

    def n_asked(
        self, lake: str, table: str, *, since: date, digests: Collection[str] | None = None
    ) -> int:
        """Return how many queries grouped a table since a day; None: in whatever way."""

    def hears(self, lake: str, *, since: date) -> bool:
        """Return whether any query that groups such a table was heard of since a day."""


_logs: dict[str, QueryLog] = {}


def register_query_log(name: str, log: QueryLog) -> None:
    """Add a log; registering a name again replaces it."""
    _logs[name] = log


def query_logs() -> list[QueryLog]:
    """Return the logs that are registered."""
    return list(_logs.values())
