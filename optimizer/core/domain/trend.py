"""Selects inspections kept for a table's trend, so that a year fits and no fall is smoothed.

A point stands for some minutes; one between two others goes unless the health had changed there.
So a table that is looked at each minute leaves a point each ten minutes, and beside them the depth
of every fall and the height of every return: at most one for each MATTERS points that it moved.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

POINT_EVERY = timedelta(minutes=10)
MATTERS = 5.0


@dataclass(frozen=True, slots=True)
class Point:
    """A table's health at one look."""

    at: datetime
    health: float


def is_told(before: Point, between: Point, after: Point) -> bool:
    """Whether the trend loses nothing by leaving out the point `between` two others."""
    is_near = after.at - before.at < POINT_EVERY
    return is_near and abs(between.health - before.health) < MATTERS
