"""What people and jobs cannot say against: capabilities above keep partitions from being marked.

A gate is asked before partitions are marked as ready, and is told when they are not any more.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from portal.lake.names import TableName


class MarkGate(Protocol):
    """Says which partitions may not be marked as ready."""

    def refused(self, hive: TableName, changed: Mapping[str, datetime | None]) -> dict[str, str]:
        """Return why, by name, looking at all at once.

        `changed` says when each was made or changed last; None: nobody knows.
        """

    def taken_back(self, hive: TableName, names: Sequence[str], *, now: datetime) -> None:
        """Note that partitions are about to be written again; twice changes nothing."""


_gates: dict[str, MarkGate] = {}


def register_mark_gate(name: str, gate: MarkGate) -> None:
    """Add a gate; registering a name again replaces it."""
    _gates[name] = gate


def refusals(hive: TableName, changed: Mapping[str, datetime | None]) -> dict[str, str]:
    """Return why partitions may not be marked as ready; the first gate that says so counts.

    `changed` says when each was made or changed last; None: nobody knows.
    """
    found: dict[str, str] = {}
    for name in sorted(_gates):
        found = _gates[name].refused(hive, changed) | found
    return found


def note_taken_back(hive: TableName, names: Sequence[str], *, now: datetime) -> None:
    """Tell every gate that partitions are not ready any more."""
    for name in sorted(_gates):
        _gates[name].taken_back(hive, names, now=now)
