"""A treemap as SVG made here: areas by size, groups of them together, each divided by class.

The part of Plotly that pages load has no treemap, and the whole is three times as large. Colours
are CSS classes; the words of each area are its hover text, and the data table has every number.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from portal.ui.charts.figures import Chart
from portal.ui.charts.squarify import Rect, slices, squarify

WIDTH, HEIGHT = 640.0, 400.0
HEADING, MARGIN = 18.0, 2.0
# Of a label in the picture's own units.
LETTER, LINE = 6.6, 15.0

Spell = Callable[[int], str]


@dataclass(frozen=True, slots=True)
class Leaf:
    """One area: its name, and its size in each class."""

    name: str
    sizes: Mapping[str, int]

    @property
    def size(self) -> int:
        """The whole of it."""
        return sum(self.sizes.values())


@dataclass(frozen=True, slots=True)
class Shape:
    """One rectangle of the picture, of a class (by its place among them)."""

    rect: Rect
    words: str
    tone: int


@dataclass(frozen=True, slots=True)
class Label:
    """A name where it fits; of a group, or of an area."""

    x: float
    y: float
    text: str
    is_group: bool


@dataclass(frozen=True)
class Tree:
    """The picture: shapes, their names, and the classes of its colours."""

    width: float
    height: float
    shapes: tuple[Shape, ...]
    groups: tuple[Rect, ...]
    outlines: tuple[Rect, ...]
    """The areas as a whole, each divided into shapes."""
    labels: tuple[Label, ...]
    legend: tuple[tuple[int, str], ...]


def treemap_chart(
    name: str,
    *,
    title: str,
    groups: Mapping[str, Sequence[Leaf]],
    classes: Sequence[str],
    head: str,
    spell: Spell,
) -> Chart | None:
    """Return areas by size in groups, the largest first; None where nothing has a size.

    `classes` are those of the leaves' sizes, in the order of their colours; `spell` says a size.
    """
    known = {key: [one for one in leaves if one.size > 0] for key, leaves in groups.items()}
    found = sorted(
        ((key, leaves) for key, leaves in known.items() if leaves),
        key=lambda pair: -sum(one.size for one in pair[1]),
    )
    if not found:
        return None
    whole = Rect(0.0, 0.0, WIDTH, HEIGHT)
    places = squarify([float(sum(one.size for one in leaves)) for _, leaves in found], whole)
    shapes: list[Shape] = []
    outlines: list[Rect] = []
    labels: list[Label] = []
    for (key, leaves), place in zip(found, places, strict=True):
        inner = place.inset(MARGIN, HEADING)
        if inner is not place and (text := _fitting(key, place.width)):
            labels.append(Label(place.x + 4, place.y + 13, text, is_group=True))
        in_order = sorted(leaves, key=lambda one: -one.size)
        for leaf, area in zip(
            in_order, squarify([float(one.size) for one in in_order], inner), strict=True
        ):
            outlines.append(area)
            shapes += _shapes(leaf, area, key=key, classes=classes, spell=spell)
            if area.height >= LINE + 4 and (text := _fitting(leaf.name, area.width)):
                labels.append(Label(area.x + 4, area.y + 14, text, is_group=False))
    used = [one for one in classes if any(leaf.sizes.get(one) for _, ls in found for leaf in ls)]
    tree = Tree(
        WIDTH,
        HEIGHT,
        tuple(shapes),
        tuple(places),
        tuple(outlines),
        tuple(labels),
        tuple((classes.index(one), one) for one in used),
    )
    rows = tuple(
        (_named(key, leaf), *(leaf.sizes.get(one, 0) for one in used), leaf.size)
        for key, leaves in found
        for leaf in sorted(leaves, key=lambda one: -one.size)
    )
    return Chart(name, title, {}, (head, *used, "All"), rows, "bytes", tree=tree)


def _shapes(
    leaf: Leaf, area: Rect, *, key: str, classes: Sequence[str], spell: Spell
) -> list[Shape]:
    parts = [(one, leaf.sizes[one]) for one in classes if leaf.sizes.get(one, 0) > 0]
    told = ", ".join(f"{one} {spell(size)}" for one, size in parts)
    words = f"{_named(key, leaf)}: {spell(leaf.size)} ({told})"
    places = slices([float(size) for _, size in parts], area)
    return [
        Shape(place, words, classes.index(one))
        for (one, _), place in zip(parts, places, strict=True)
    ]


def _named(key: str, leaf: Leaf) -> str:
    return f"{key}.{leaf.name}" if leaf.name else key


def _fitting(text: str, width: float) -> str:
    """Return the text, shortened to a width; nothing where not even its beginning fits."""
    room = int((width - 8) / LETTER)
    if len(text) <= room:
        return text
    return f"{text[: room - 1]}…" if room >= 4 else ""
