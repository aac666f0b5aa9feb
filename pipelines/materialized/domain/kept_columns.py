"""Names of the columns that a materialization keeps for itself, beside those of its SELECT."""

OWN = "_lw_"
"""How all of them begin; no column of a SELECT does, and of a source only a capture's version."""
GROUP, ROWS = f"{OWN}group", f"{OWN}n"
"""The record key, which is a hash of the dimensions, and the number of rows of a group."""
VALUE = f"{OWN}value"
"""The record key of the counts of distinct values."""


def state(kind: str, n: int) -> str:
    """Name a part of an argument's state: count, sum, low, high or distinct."""
    return f"{OWN}{kind}_{n}"
