"""Registers the catalog with the follower."""

from portal.catalog.services.event_handlers import register_subscriber


def register() -> None:
    """Add what the catalog offers: its subscriber to metastore events."""
    register_subscriber()
