"""Decides how healthy a table is: as its worst part. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum


class HealthLevel(IntEnum):
    """How a table stands, or one part of it; the highest is the worst."""

    OK = 0
    UNKNOWN = 1
    WARN = 2
    BAD = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """How one part of a table stands, and why, in a few words."""

    level: HealthLevel
    sentence: str


def worst_of(findings: Iterable[Finding]) -> HealthLevel:
    """Return the worst level; of a table of which nothing is known, UNKNOWN."""
    return max((one.level for one in findings), default=HealthLevel.UNKNOWN)
