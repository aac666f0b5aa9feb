"""Registers the tick that keeps the index up to date."""

from datetime import timedelta

from portal.runs.kinds.ticks import Tick, register_tick
from portal.search.services.index import index_catch_up

EVERY = timedelta(seconds=20)


def register_ticks() -> None:
    """Add the tick."""
    register_tick(Tick(name="search_index", every=EVERY, turn=index_catch_up))
