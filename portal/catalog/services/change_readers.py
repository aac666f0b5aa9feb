"""Says up to which commit programs have read a table's changes, so that its old versions stay.

Areas that read changes register who knows; those that clean tables ask.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from portal.lake.names import TableName


@dataclass(frozen=True, slots=True)
class ChangeReader:
    """A program that reads a table's changes, and needs the version up to which it has read."""

    name: str
    since: datetime
    """When the last commit that it has read was completed."""
    is_capped: bool = False
    """It was waited for as long as readers are; nothing is kept for it any more."""


Provider = Callable[[TableName], list[ChangeReader]]
_providers: dict[str, Provider] = {}


def register_change_readers(name: str, provider: Provider) -> None:
    """Add who knows readers of some tables; registering a name again replaces it."""
    _providers[name] = provider


def change_readers_of(table: TableName) -> list[ChangeReader]:
    """Return the readers of a table's changes, the one that is furthest behind first."""
    found = (one for provider in _providers.values() for one in provider(table))
    return sorted(found, key=lambda one: (one.since, one.name))
