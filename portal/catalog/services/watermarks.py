"""Says up to which moment a table has what its source had, where a pipeline feeds it.

Areas that fill tables register who knows; those that judge whether a partition is complete ask.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from portal.lake.names import TableName


@dataclass(frozen=True, slots=True)
class Watermark:
    """How far a table is."""

    table: TableName
    at: datetime | None
    """Everything that the source did before it is in the table; None: that cannot be said now."""
    reason: str = ""
    """Why it cannot be said."""


Provider = Callable[[TableName], Watermark | None]
_providers: dict[str, Provider] = {}


def register_watermarks(name: str, provider: Provider) -> None:
    """Add who knows the watermarks of some tables; registering a name again replaces it."""
    _providers[name] = provider


def watermark_of(table: TableName) -> Watermark | None:
    """Return the watermark of a table; None where no pipeline feeds it."""
    found = (provider(table) for provider in _providers.values())
    return next((one for one in found if one is not None), None)
