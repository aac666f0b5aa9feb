"""Fetches what the opt-in tier of real clusters runs; each part of it once."""

from collections.abc import Callable, Sequence

from stack.deploy_assets import fetch_deploy_programs

PARTS: Sequence[Callable[[], bool]] = (fetch_deploy_programs,)
"""What is fetched; each says False where it was there already, and raises StackError."""


def fetch_clusters() -> bool:
    """Fetch every part; False if all were there already.

    Raises:
        StackError: a part could not be fetched; it says which and why.
    """
    fetched = [fetch() for fetch in PARTS]
    return any(fetched)
