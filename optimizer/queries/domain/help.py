"""Decides whether a layout, an index or a cube helps the queries of a shape; pure."""

HELPED_BELOW = 0.5
"""Of its tables' rows: what reads less is narrowed by something."""


def is_helped(share: float | None) -> bool | None:
    """Return whether something narrows what a shape reads; None where no engine told how much."""
    return None if share is None else share < HELPED_BELOW
