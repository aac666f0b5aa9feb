"""Registers `optimizer.rewriting` with the platform."""

from optimizer.rewriting.run_kinds import register_rewrite_kind
from optimizer.rewriting.ui import register_pages


def register() -> None:
    """Add what this capability offers: its run, its pages."""
    register_rewrite_kind()
    register_pages()
