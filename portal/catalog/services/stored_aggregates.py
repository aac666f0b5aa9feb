"""Says which stored aggregates of a table there are, and that a query is answered from one.

Areas that keep aggregates register who knows them; who rewrites queries asks, and tells of answers.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from portal.lake.aggregates import StoredAggregate

Provider = Callable[[str, Sequence[str]], Iterable[StoredAggregate]]
"""Returns the aggregates of tables (`<db>.<name>`) of a lake."""
Answered = Callable[[str, str, datetime], None]
"""Takes a lake and the table (`<db>.<name>`) of the aggregate that a query was answered from."""
_answered: dict[str, Answered] = {}
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
