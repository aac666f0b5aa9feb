"""Says what the last comparison of a table with its source found, where a pipeline feeds it.

Areas that fill tables register who knows; those that judge whether data is right ask.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from portal.lake.names import TableName


@dataclass(frozen=True, slots=True)
class SourceComparison:
    """What a comparison came to."""

    at: datetime | None
    """When both sides were read; None: the table was never compared to an end."""
    n_differences: int = 0
    """Rows that one side alone has, or that differ."""


Provider = Callable[[TableName], SourceComparison | None]
_providers: dict[str, Provider] = {}


def register_comparisons(name: str, provider: Provider) -> None:
    """Add who knows the comparisons of some tables; registering a name again replaces it."""
    _providers[name] = provider


def source_comparison_of(table: TableName) -> SourceComparison | None:
    """Return the last comparison of a table; None where no pipeline feeds it."""
    found = (provider(table) for provider in _providers.values())
    return next((one for one in found if one is not None), None)
