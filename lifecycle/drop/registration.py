"""Registers `lifecycle.drop` with the platform."""

from lifecycle.core.ui.run_subjects import register_page_subject
from lifecycle.drop.run_kinds import register_plan_kinds
from lifecycle.drop.services.standing_rules import register_standing_kinds
from lifecycle.drop.ui.nav import register_pages


def register() -> None:
    """Add what this capability offers: runs, questions, pages, home cards."""
    register_plan_kinds()
    register_standing_kinds()
    register_pages()
    register_page_subject("drop_plan", "Drop plan", "lifecycle:plan")
