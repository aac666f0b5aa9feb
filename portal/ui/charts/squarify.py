"""Lays areas into a rectangle, each as near to a square as its neighbours allow. Pure.

The squarified treemap of Bruls, Huizing and van Wijk: areas in falling order fill the shorter side
in rows, and a row is closed when one more would make its worst shape longer.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rect:
    """A place in the picture."""

    x: float
    y: float
    width: float
    height: float

    def inset(self, left: float, top: float) -> "Rect":
        """Return what is left of it beside a margin and below a heading, where there is room."""
        if self.width <= 3 * left or self.height <= top + 3 * left:
            return self
        return Rect(self.x + left, self.y + top, self.width - 2 * left, self.height - top - left)


def squarify(sizes: Sequence[float], within: Rect) -> list[Rect]:
    """Return a place for each size, in their order; sizes are positive and fall."""
    total = sum(sizes)
    if not sizes or total <= 0:
        return []
    scale = within.width * within.height / total
    areas, places, room = [size * scale for size in sizes], [], within
    while areas:
        side = min(room.width, room.height)
        n = _row_length(areas, side)
        row, areas = areas[:n], areas[n:]
        laid, room = _lay(row, room)
        places += laid
    return places


def slices(sizes: Sequence[float], within: Rect) -> list[Rect]:
    """Return a slice of the longer side for each size, in their order."""
    total = sum(sizes)
    places, at = [], 0.0
    for size in sizes:
        share = size / total
        if within.width >= within.height:
            places.append(
                Rect(within.x + at * within.width, within.y, share * within.width, within.height)
            )
        else:
            places.append(
                Rect(within.x, within.y + at * within.height, within.width, share * within.height)
            )
        at += share
    return places


def _row_length(areas: Sequence[float], side: float) -> int:
    """Return how many of the areas the next row takes."""
    total = worst = 0.0
    for n, area in enumerate(areas):
        total += area
        longest = _worst(areas[0], area, total, side)
        if n and longest > worst:
            return n
        worst = longest
    return len(areas)


def _worst(largest: float, smallest: float, total: float, side: float) -> float:
    """Return the greatest ratio of sides in a row of areas from the largest to the smallest."""
    if not side or not smallest:
        return float("inf")
    square = side * side
    return max(square * largest / (total * total), total * total / (square * smallest))


def _lay(row: Sequence[float], room: Rect) -> tuple[list[Rect], Rect]:
    """Lay a row along the shorter side; return its places and the room that is left."""
    total, at, places = sum(row), 0.0, []
    if room.width >= room.height:
        width = total / room.height
        for area in row:
            places.append(Rect(room.x, room.y + at, width, area / width))
            at += area / width
        return places, Rect(room.x + width, room.y, max(room.width - width, 0.0), room.height)
    height = total / room.width
    for area in row:
        places.append(Rect(room.x + at, room.y, area / height, height))
        at += area / height
    return places, Rect(room.x, room.y + height, room.width, max(room.height - height, 0.0))
