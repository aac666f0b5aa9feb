"""Caps stop a plan before its first action; each is crossed here by exactly one."""

import pytest

from lifecycle.core.domain.caps import Caps, caps_crossed, inventory_shrank

CAPS = Caps(max_items=100, max_bytes=1000, max_percent=10)


@pytest.mark.parametrize(
    ("n_items", "n_bytes", "n_inventory", "says"),
    [
        (100, 1000, 1000, []),
        (101, 1000, 2000, ["101 items"]),
        (100, 1001, 1000, ["1001 bytes"]),
        (100, 1000, 999, ["10 percent"]),
        (101, 1001, 1009, ["101 items", "1001 bytes", "10 percent"]),
        (1, 0, 0, ["10 percent"]),
        (0, 0, 0, []),
    ],
)
def test_a_cap_is_crossed_by_one_more_than_it_allows(
    n_items: int, n_bytes: int, n_inventory: int, says: list[str]
) -> None:
    crossed = caps_crossed(n_items=n_items, n_bytes=n_bytes, n_inventory=n_inventory, caps=CAPS)
    assert len(crossed) == len(says)
    assert all(word in sentence for word, sentence in zip(says, crossed, strict=True))


@pytest.mark.parametrize(
    ("previous", "current", "shrank"),
    [
        (100, 51, False),
        (100, 50, True),
        (100, 0, True),
        (0, 0, False),
        (1, 1, False),
        (0, 5, False),
    ],
)
def test_half_of_the_inventory_gone_is_a_broken_reading(
    previous: int, current: int, shrank: bool
) -> None:
    assert inventory_shrank(previous=previous, current=current) is shrank
