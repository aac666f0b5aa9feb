"""Registers `optimizer.hudi.pages` with the platform."""

from optimizer.hudi.pages.ui.badges import register_hudi_words
from optimizer.hudi.pages.ui.nav import register_pages


def register() -> None:
    """Add what this capability offers: runs, approvals, pages, home cards, numbers."""
    register_pages()
    register_hudi_words()
