"""Registers the ticks that keep the index up to date, and lists of opened objects short."""

from datetime import timedelta

from portal.runs.kinds.ticks import Tick, register_tick
from portal.search.services.index import index_catch_up
from portal.search.services.opened import opened_trim

EVERY = timedelta(seconds=20)


def register_ticks() -> None:
    """Add the ticks."""
    register_tick(Tick(name="search_index", every=EVERY, turn=index_catch_up))
    register_tick(Tick(name="search_opened", every=timedelta(hours=1), turn=opened_trim))
