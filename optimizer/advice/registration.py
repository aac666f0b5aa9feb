"""Registers `optimizer.advice` with the platform."""

from optimizer.advice.run_kinds import register_advice_kind
from optimizer.advice.services.repeated_queries import HudiQueryLog
from optimizer.advice.ui.badges import register_advice_badges
from optimizer.advice.ui.pages import register_advice_pages
from optimizer.advice.ui.table_tab import register_advice_tab
from portal.catalog.services.stored_aggregates import register_query_log


def register() -> None:
    """Add what this capability offers: its runs, pages, the tab of a table, what queries repeat."""
    register_advice_kind()
    register_advice_badges()
    register_advice_pages()
    register_advice_tab()
    register_query_log("hudi", HudiQueryLog())
