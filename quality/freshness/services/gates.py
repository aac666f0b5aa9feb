"""What else has to hold before a rule says that a period is ready; capabilities above add it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from quality.models import ExpectedPartition, FreshnessRule


class Gate(Protocol):
    """Says which periods may not become ready, and why, by their start."""

    def __call__(
        self,
        rule: FreshnessRule,
        periods: Sequence[ExpectedPartition],
        changed: Mapping[datetime, datetime | None],
    ) -> dict[datetime, str]:
        """Look at all periods at once; a period that is left out may become ready.

        `changed` says when the newest change of the partitions of a period was, by its start; None:
        nobody knows. A period without partitions is not in it.
        """


_gates: dict[str, Gate] = {}


def register_gate(name: str, gate: Gate) -> None:
    """Add a gate; registering a name again replaces it."""
    _gates[name] = gate


def held_back(
    rule: FreshnessRule,
    periods: Sequence[ExpectedPartition],
    changed: Mapping[datetime, datetime | None],
) -> dict[datetime, list[str]]:
    """Return all reasons why periods may not become ready, by their start."""
    found: dict[datetime, list[str]] = {}
    for name in sorted(_gates):
        for start, reason in _gates[name](rule, periods, changed).items():
            found.setdefault(start, []).append(reason)
    return found
