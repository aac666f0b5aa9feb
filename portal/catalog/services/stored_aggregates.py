"""Says which stored aggregates of a table there are.

Areas that keep aggregates register who knows them; who rewrites queries asks.
"""

from collections.abc import Callable, Iterable, Sequence

from portal.lake.aggregates import StoredAggregate

Provider = Callable[[str, Sequence[str]], Iterable[StoredAggregate]]
"""Returns the aggregates of tables (`<db>.<name>`) of a lake."""
_providers: dict[str, Provider] = {}


def register_aggregates(name: str, provider: Provider) -> None:
    """Add who knows aggregates of some tables; registering a name again replaces it."""
    _providers[name] = provider


def aggregates_of(lake: str, tables: Sequence[str]) -> list[StoredAggregate]:
    """Return the aggregates whose source is one of these tables."""
    return [one for provider in _providers.values() for one in provider(lake, tables)]
