"""Registers `quality.ready_flag` with the platform."""

from portal.access.scopes import Scope, register_scope
from quality.ready_flag.ui import register_pages


def register() -> None:
    """Add what this capability offers: runs, pages, home cards, numbers, scopes."""
    register_pages()
    register_scope(Scope("readiness", "Say which partitions are ready to be read."))
