"""Says which stored aggregates of a table there are, what is answered from them, what repeats.

Areas that keep aggregates register who knows them; who rewrites queries asks, and tells of answers.
An area that hears of queries registers its log; areas that keep aggregates ask it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Protocol

from portal.catalog.domain.repeated_queries import RepeatedQueries
from portal.lake.aggregates import StoredAggregate

Provider = Callable[[str, Sequence[str]], Iterable[StoredAggregate]]
"""Returns the aggregates of tables (`<db>.<name>`) of a lake."""
Answered = Callable[[str, str, datetime], None]
"""Takes a lake and the table (`<db>.<name>`) of the aggregate that a query was answered from."""
Read = Callable[[str, Sequence[str], datetime], None]
"""Takes a lake and the tables (`<db>.<name>`) that a query read by their names."""
_answered: dict[str, Answered] = {}
_read: dict[str, Read] = {}
_providers: dict[str, Provider] = {}


def register_aggregates(name: str, provider: Provider) -> None:
    """Add who knows aggregates of some tables; registering a name again replaces it."""
    _providers[name] = provider


def aggregates_of(lake: str, tables: Sequence[str]) -> list[StoredAggregate]:
    """Return the aggregates whose source is one of these tables."""
    return [one for provider in _providers.values() for one in provider(lake, tables)]


def register_answered(name: str, listener: Answered) -> None:
    """Add who counts answers; registering a name again replaces it."""
    _answered[name] = listener


def aggregate_answered(lake: str, table: str, *, now: datetime) -> None:
    """Tell who keeps it that a query is answered from an aggregate; each call is one query."""
    for listener in _answered.values():
        listener(lake, table, now)


def register_read(name: str, listener: Read) -> None:
    """Add who counts reads of its tables; registering a name again replaces it."""
    _read[name] = listener


def tables_read(lake: str, tables: Sequence[str], *, now: datetime) -> None:
    """Tell who keeps aggregates which tables a query read by name; each call is one query."""
    for listener in _read.values():
        listener(lake, tables, now)


class QueryLog(Protocol):
    """What an area knows of queries that group tables of a lake."""

    def repeated(
        self, lake: str, kept: Mapping[str, Sequence[str]], *, now: datetime
    ) -> Iterable[tuple[str, Sequence[RepeatedQueries]]]:
        """Return tables with what would answer their repeated queries of four weeks; maybe nothing.

        A turn looks at some tables, so that within a day each that is read much had its turn.
        `kept` has the definitions of the aggregates that there are, by table; queries that these
        answer are left out.
        """

    def n_asked(self, lake: str, table: str, *, since: date, digests: Collection[str]) -> int:
        """Return how many queries grouped a table in one of some ways since a day."""

    def hears(self, lake: str, *, since: date) -> bool:
        """Return whether any query that groups such a table was heard of since a day."""


_logs: dict[str, QueryLog] = {}


def register_query_log(name: str, log: QueryLog) -> None:
    """Add a log; registering a name again replaces it."""
    _logs[name] = log


def query_logs() -> list[QueryLog]:
    """Return the logs that are registered."""
    return list(_logs.values())
