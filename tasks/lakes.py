"""Time zone in which a lake counts its days."""

from zoneinfo import ZoneInfo

from portal.access.lakes import all_lakes


def zone_of(lake: str) -> ZoneInfo:
    """Return the lake's zone; UTC for a lake that is no longer governed."""
    config = all_lakes().get(lake)
    return config.zone if config is not None else ZoneInfo("UTC")
