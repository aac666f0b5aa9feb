"""Registers `lifecycle.drop` with the platform."""

from lifecycle.core.ui.run_subjects import register_page_subject
from lifecycle.drop.run_kinds import register_plan_kinds
from lifecycle.drop.services.plans import PLANS
from lifecycle.drop.services.standing_rules import RULES
from lifecycle.drop.ui.nav import register_pages
from lifecycle.drop.ui.tour import register_tour
from portal.search.selectors.proposals import register_proposals


def register() -> None:
    """Add what this capability offers: runs, questions, pages, home cards."""
    register_plan_kinds()
    RULES.register()
    register_pages()
    register_tour()
    register_page_subject("drop_plan", "Drop plan", "lifecycle:plan")
    register_proposals(
        PLANS,
        title="Drop plans",
        order=30,
        page="lifecycle:plan",
        about=lambda plan: f"Drop plan, {plan.n_items:,} items",
    )
    register_proposals(
        RULES,
        title="Standing rules",
        order=34,
        page="lifecycle:standing-rule",
        about=lambda rule: f"Standing rule for {rule.db}.{rule.table}",
    )
