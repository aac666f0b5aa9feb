"""Registers the catalog with the follower."""

from portal.catalog.services.event_handlers import register_subscriber
from portal.catalog.services.health import register_health_tick


def register() -> None:
    """Add what the catalog offers: its subscriber to metastore events, and its tick."""
    register_subscriber()
    register_health_tick()
