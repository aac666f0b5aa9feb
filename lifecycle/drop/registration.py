"""Registers `lifecycle.drop` with the platform."""

from lifecycle.core.ui.run_subjects import register_page_subject
from lifecycle.drop.run_kinds import register_plan_kinds
from lifecycle.drop.services.standing_rules import RULES
from lifecycle.drop.ui.nav import register_pages
from lifecycle.drop.ui.tour import register_tour


def register() -> None:
    """Add what this capability offers: runs, questions, pages, home cards."""
    register_plan_kinds()
    RULES.register()
    register_pages()
    register_tour()
    register_page_subject("drop_plan", "Drop plan", "lifecycle:plan")
