"""Registers `lifecycle.guard` with the platform."""

from lifecycle.guard.services.events import register_subscriber
from lifecycle.guard.ui.nav import register_pages


def register() -> None:
    """Add what this capability offers: runs, questions, pages, home cards."""
    register_subscriber()
    register_pages()
