"""Scores of health from 0 to 100, and what a table or partition lost of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

POINT = 1_000_000

WHOLE = 100 * POINT

AnyPart = TypeVar("AnyPart", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Deduction:
    """Points that one part cost, and why in words."""

    part: StrEnum
    millionths: int
    reason: str

    @property
    def points(self) -> float:
        """Points of the hundred."""
        return self.millionths / POINT

    def as_dict(self) -> dict[str, object]:
        """Return the form in which it is stored."""
        return {"part": str(self.part), "points": self.points, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Health:
    """A score with what it lost; `note` is said where there was nothing to judge."""

    deductions: tuple[Deduction, ...] = ()
    note: str = ""

    @property
    def millionths(self) -> int:
        """The score in millionths of a point."""
        return WHOLE - sum(one.millionths for one in self.deductions)

    @property
    def score(self) -> float:
        """From 0, nothing is as it should be, to 100."""
        return self.millionths / POINT

    def as_list(self) -> list[dict[str, object]]:
        """Return what is stored: its deductions, or its note as one without part and points."""
        if self.note:
            return [{"part": "", "points": 0.0, "reason": self.note}]
        return [one.as_dict() for one in self.deductions]


def taken(
    severities: Mapping[AnyPart, float], takes: Mapping[AnyPart, float], *, of: int
) -> dict[AnyPart, int]:
    """Return what each part takes of what those before it left, in millionths.

    A part takes at most its share in `takes`, and all of that at a severity of 1.
    """
    lost: dict[AnyPart, int] = {}
    for part, severity in severities.items():
        lost[part] = int(of * takes[part] * share_of(severity))
        of -= lost[part]
    return lost


def share_of(*parts: float) -> float:
    """Return the sum of parts, kept between 0 and 1."""
    return min(1.0, max(0.0, sum(parts)))
