"""Registers `optimizer.advice` with the platform."""

from optimizer.advice.run_kinds import register_advice_kind
from optimizer.advice.ui.badges import register_advice_badges
from optimizer.advice.ui.pages import register_advice_pages
from optimizer.advice.ui.table_tab import register_advice_tab


def register() -> None:
    """Add what this capability offers: its runs, pages, the tab of a table."""
    register_advice_kind()
    register_advice_badges()
    register_advice_pages()
    register_advice_tab()
