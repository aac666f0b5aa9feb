"""Asks whether a change of schema that came was announced, and so is decided already.

Whoever takes announcements registers here; it stands above the control of pipelines.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from pipelines.cdc.changes.domain.schemas import TableSchema
from pipelines.cdc.schema.domain.classes import SchemaChange as Change
from pipelines.models import CapturedTable


@dataclass(frozen=True, slots=True)
class Announced:
    """A change that was approved before it came."""

    by: str
    reason: str
    choices: Mapping[str, str] = field(default_factory=dict)
    """The protection of each column that comes with it."""


class Matcher(Protocol):
    """Says whether a change that came is one that was approved ahead."""

    def __call__(
        self, table: CapturedTable, seen: TableSchema, changes: Sequence[Change], *, now: datetime
    ) -> Announced | None:
        """Decide in the caller's transaction, which stores the change."""


_matchers: list[Matcher] = []


def register_matcher(matcher: Matcher) -> None:
    """Add who takes announcements; twice it is asked once."""
    if matcher not in _matchers:
        _matchers.append(matcher)


def announced(
    table: CapturedTable, seen: TableSchema, changes: Sequence[Change], *, now: datetime
) -> Announced | None:
    """Return the approval that a change of a table has ahead, if any."""
    answers = [matcher(table, seen, changes, now=now) for matcher in _matchers]
    return next((one for one in answers if one is not None), None)
