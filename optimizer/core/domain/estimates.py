"""Defines what a task would read, write, remove and cost, and how fast a lake's tasks are.

Each format estimates its own kinds of work (`planner/domain/estimates.py`). Speeds come from
finished tasks, as arguments: no number here is made up.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

GIB = 1024**3


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast this lake's rewrites are, measured; `memory_gb` of the whole application."""

    bytes_per_second: float  # read and written together
    seconds_per_file: float
    startup_seconds: float
    memory_gb: float
    sort_factor: float = 1.0  # seconds of a clustering over those of a bin-pack of the same bytes


# For order and risk alone, until a task of the lake was measured; no seconds are told by it.
UNMEASURED = Speed(50 * 1024**2, 0.02, 10.0, 1.0)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is read, written and gained; sums with `+`."""

    n_files_read: int = 0
    bytes_read: int = 0
    n_files_written: int = 0
    bytes_written: int = 0
    n_delete_files_removed: int = 0
    n_files_ordered: int = 0
    seconds: float = 0.0
    gb_hours: float = 0.0

    @property
    def n_files_removed(self) -> int:
        """By how many data files the table gets fewer."""
        return max(0, self.n_files_read - self.n_files_written)

    def __add__(self, other: "Estimate") -> "Estimate":
        return Estimate(
            self.n_files_read + other.n_files_read,
            self.bytes_read + other.bytes_read,
            self.n_files_written + other.n_files_written,
            self.bytes_written + other.bytes_written,
            self.n_delete_files_removed + other.n_delete_files_removed,
            self.n_files_ordered + other.n_files_ordered,
            self.seconds + other.seconds,
            self.gb_hours + other.gb_hours,
        )

    def as_dict(self) -> dict[str, int | float]:
        """Return the form that is stored with a task."""
        return {
            "n_files_read": self.n_files_read,
            "bytes_read": self.bytes_read,
            "n_files_written": self.n_files_written,
            "bytes_written": self.bytes_written,
            "n_files_removed": self.n_files_removed,
            "n_delete_files_removed": self.n_delete_files_removed,
            "n_files_ordered": self.n_files_ordered,
            "seconds": round(self.seconds, 3),
            "gb_hours": round(self.gb_hours, 6),
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Read the stored form; what it does not tell counts as nothing."""
        return cls(**{one.name: stored.get(one.name, one.default) for one in fields(cls)})


def start_cost(speed: Speed) -> Estimate:
    """Return what one application costs before it does anything; its tasks share it."""
    return Estimate(
        seconds=speed.startup_seconds, gb_hours=speed.startup_seconds * speed.memory_gb / 3600
    )
