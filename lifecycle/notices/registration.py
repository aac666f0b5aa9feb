"""Registers `lifecycle.notices` with the platform."""

from lifecycle.notices.ui import register_pages


def register() -> None:
    """Add what this capability offers: runs, questions, pages, home cards."""
    register_pages()
