"""Places tables and the edges between them for a picture: data flows from left to right."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipelines.incremental.domain.graph import run_order

WIDTH, HEIGHT = 190.0, 34.0
ACROSS, DOWN, MARGIN = 90.0, 18.0, 12.0
_LETTER = 6.8


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the picture; `label` is its name where it fits."""

    name: str
    x: float
    y: float
    label: str
    is_target: bool

    @property
    def name_x(self) -> float:
        """Where its name begins."""
        return self.x + 8

    @property
    def name_y(self) -> float:
        """The line on which its name stands."""
        return self.y + HEIGHT / 2 + 4


@dataclass(frozen=True, slots=True)
class Line:
    """An edge, with what is written at it."""

    x1: float
    y1: float
    x2: float
    y2: float
    words: str
    is_static: bool

    @property
    def middle(self) -> tuple[float, float]:
        """Where its words are."""
        return (self.x1 + self.x2) / 2, (self.y1 + self.y2) / 2 - 4


@dataclass(frozen=True, slots=True)
class Lineage:
    """The picture."""

    width: float
    height: float
    tables: tuple[Table, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Flow:
    """One edge, and what is said of it."""

    source: str
    target: str
    words: str
    is_static: bool = False


def lineage(flows: Sequence[Flow]) -> Lineage:
    """Return the picture of a graph without circles."""
    sources: dict[str, list[str]] = defaultdict(list)
    for one in flows:
        sources[one.target].append(one.source)
    depths = _depths(sources)
    columns: dict[int, list[str]] = defaultdict(list)
    for name in sorted(depths):
        columns[depths[name]].append(name)
    places = {
        name: (MARGIN + depth * (WIDTH + ACROSS), MARGIN + n * (HEIGHT + DOWN))
        for depth, names in columns.items()
        for n, name in enumerate(names)
    }
    tables = tuple(
        Table(name, x, y, _fitting(name), name in sources) for name, (x, y) in places.items()
    )
    lines = tuple(_line(one, places) for one in flows)
    n_down = max(map(len, columns.values()), default=0)
    width = 2 * MARGIN + len(columns) * (WIDTH + ACROSS) - ACROSS
    height = 2 * MARGIN + n_down * (HEIGHT + DOWN) - DOWN
    return Lineage(max(width, 0.0), max(height, 0.0), tables, lines)


def _depths(sources: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return each table's column: a target's is behind those of its sources.

    A table that nothing is made into stands just before what is made of it, so that its line
    passes behind no other table.
    """
    found: dict[str, int] = {}
    for target in run_order(sources):
        found[target] = 1 + max((found.get(one, 0) for one in sources[target]), default=0)
    for target, names in sources.items():
        for one in names:
            if one not in sources:
                found[one] = min(found.get(one, found[target]), found[target] - 1)
    return found


def _line(flow: Flow, places: Mapping[str, tuple[float, float]]) -> Line:
    x1, y1 = places[flow.source]
    x2, y2 = places[flow.target]
    middle = HEIGHT / 2
    return Line(x1 + WIDTH, y1 + middle, x2, y2 + middle, flow.words, flow.is_static)


def _fitting(text: str) -> str:
    room = int((WIDTH - 12) / _LETTER)
    return text if len(text) <= room else f"{text[: room - 1]}…"
