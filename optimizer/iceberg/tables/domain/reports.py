"""Parses a writer's report of a commit: Iceberg's CommitReport, read without trust."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_MOST = 2**63 - 1
_MOST_METRICS = 100
_LONGEST_NAME = 64
_DURATION = "total-duration"
_PER_MILLISECOND = {"nanoseconds": 1_000_000, "microseconds": 1_000, "milliseconds": 1}


@dataclass(frozen=True, slots=True)
class CommitReport:
    """One commit as its writer measured it; `metrics` are plain numbers by Iceberg's names."""

    snapshot_id: int
    sequence: int | None = None
    operation: str = ""
    metrics: Mapping[str, int] = field(default_factory=dict)

    def count(self, name: str) -> int:
        """Return one of the numbers, 0 where the writer did not tell it."""
        return self.metrics.get(name, 0)

    @property
    def as_dict(self) -> dict[str, Any]:
        """Return the form that is kept with the commit."""
        return dict(self.metrics)


def read_metrics(raw: Mapping[str, Any]) -> dict[str, int]:
    """Read the counters and the duration; what is neither is left out.

    The duration comes in milliseconds as `total-duration-ms`.
    """
    found: dict[str, int] = {}
    for name, one in list(raw.items())[:_MOST_METRICS]:
        if not isinstance(one, Mapping):
            continue
        if name == _DURATION:
            per = _PER_MILLISECOND.get(str(one.get("time-unit", "")).lower())
            value = _count(one.get("total-duration"))
            if per is not None and value is not None:
                found["total-duration-ms"] = value // per
        elif (value := _count(one.get("value"))) is not None:
            found[str(name)[:_LONGEST_NAME]] = value
    return found


def _count(value: Any) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST
    return value if is_count else None
