"""Registers `optimizer.discovery` with the platform."""

from optimizer.discovery.services.event_handlers import register_subscriber
from optimizer.discovery.services.poll import register_poll_kind


def register() -> None:
    """Add what this capability offers: runs, approvals, pages, home cards, numbers."""
    register_subscriber()
    register_poll_kind()
