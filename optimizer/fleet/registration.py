"""Registers `optimizer.fleet` with the platform."""

from datetime import timedelta

from optimizer.fleet.services.unserved import unserved_look
from portal.runs.kinds.ticks import Tick, register_tick

EVERY = timedelta(hours=1)


def register() -> None:
    """Add what this capability offers: the hourly look for scans that nothing serves."""
    register_tick(Tick("fleet.unserved", EVERY, unserved_look))
