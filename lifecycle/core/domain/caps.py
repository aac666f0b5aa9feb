"""Checks how much may be dropped at once, and whether the lake has shrunk.

Everything here is asked before the first action; a plan over a cap is refused whole.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caps:
    """The most that one plan may take; percent is of the items the scan knew in ACT databases."""

    max_items: int
    max_bytes: int
    max_percent: int


def caps_crossed(*, n_items: int, n_bytes: int, n_inventory: int, caps: Caps) -> tuple[str, ...]:
    """Say each cap that a plan of this size crosses; nothing crossed gives an empty tuple."""
    crossed = []
    if n_items > caps.max_items:
        crossed.append(f"{n_items} items are more than the cap of {caps.max_items}.")
    if n_bytes > caps.max_bytes:
        crossed.append(f"{n_bytes} bytes are more than the cap of {caps.max_bytes}.")
    if n_items * 100 > n_inventory * caps.max_percent:
        crossed.append(
            f"{n_items} of {n_inventory} known items are more than {caps.max_percent} percent."
        )
    return tuple(crossed)


def inventory_shrank(*, previous: int, current: int) -> bool:
    """Whether half or more of the inventory is gone: then nothing may be acted on.

    An empty or halved picture is a broken reading far more often than a clean lake.
    """
    return previous > 0 and current * 2 <= previous
