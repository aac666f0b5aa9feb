"""A treemap's areas are as large as their sizes, lie side by side, and are near to squares."""

import pytest

from portal.ui.charts.squarify import Rect, slices, squarify

WHOLE = Rect(0.0, 0.0, 600.0, 400.0)


def ratio(one: Rect) -> float:
    return max(one.width / one.height, one.height / one.width)


def overlap(one: Rect, other: Rect) -> float:
    across = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
    down = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
    return max(across, 0.0) * max(down, 0.0)


@pytest.mark.parametrize(
    "sizes", [[1], [6, 6, 4, 3, 2, 2, 1], [1e15, 1], [5] * 60, [2.0**-n for n in range(40)]]
)
def test_areas_fill_the_whole_by_their_sizes_and_overlap_nowhere(sizes: list[float]) -> None:
    places = squarify(sizes, WHOLE)
    assert len(places) == len(sizes)
    for size, place in zip(sizes, places, strict=True):
        wanted = size / sum(sizes) * 240_000
        assert place.width * place.height == pytest.approx(wanted, rel=1e-6)
        assert place.x >= -1e-6
        assert place.y >= -1e-6
        assert place.x + place.width <= 600 + 1e-6
        assert place.y + place.height <= 400 + 1e-6
    for n, one in enumerate(places):
        assert sum(overlap(one, other) for other in places[n + 1 :]) < 1e-3


def test_the_paper_s_example_is_laid_as_in_the_paper() -> None:
    places = squarify([6, 6, 4, 3, 2, 2, 1], Rect(0, 0, 6, 4))
    assert [(round(p.width, 2), round(p.height, 2)) for p in places[:4]] == [
        (3, 2), (3, 2), (1.71, 2.33), (1.29, 2.33),
    ]  # fmt: skip
    assert max(ratio(place) for place in places) < 3


def test_no_sizes_have_no_places() -> None:
    assert squarify([], WHOLE) == []
    assert squarify([0.0], WHOLE) == []


def test_slices_divide_the_longer_side() -> None:
    assert slices([3, 1], Rect(0, 0, 40, 10)) == [Rect(0, 0, 30, 10), Rect(30, 0, 10, 10)]
    assert slices([3, 1], Rect(0, 0, 10, 40)) == [Rect(0, 0, 10, 30), Rect(0, 30, 10, 10)]


def test_an_inset_is_left_out_where_there_is_no_room() -> None:
    assert Rect(0, 0, 100, 50).inset(2, 18) == Rect(2, 18, 96, 30)
    tiny = Rect(0, 0, 5, 50)
    assert tiny.inset(2, 18) is tiny
