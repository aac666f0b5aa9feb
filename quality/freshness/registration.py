"""Registers `quality.freshness` with the platform."""

from quality.freshness.run_kinds import register_inspect_kind
from quality.freshness.selectors.numbers import register_gauges
from quality.freshness.ui.nav import register_pages


def register() -> None:
    """Add what this capability offers: runs, pages, home cards, numbers, scopes."""
    register_inspect_kind()
    register_pages()
    register_gauges()
