"""Registers `lifecycle.policies` with the platform."""

from lifecycle.core.ui.run_subjects import register_page_subject
from lifecycle.policies.run_kinds import register_policy_kinds
from lifecycle.policies.services.requests import REQUESTS
from lifecycle.policies.ui.nav import register_pages
from lifecycle.policies.ui.table_tab import register_lifecycle_tab
from lifecycle.policies.ui.tour import register_tour
from portal.search.selectors.proposals import register_proposals


def register() -> None:
    """Add what this capability offers: runs, questions, pages, home cards."""
    register_policy_kinds()
    register_pages()
    register_lifecycle_tab()
    register_tour()
    register_page_subject("policy_request", "Policy request", "lifecycle:policy-request")
    register_proposals(
        REQUESTS,
        title="Policy requests",
        order=33,
        page="lifecycle:policy-request",
        about=lambda one: f"{one.get_kind_display()} {one.name}",
    )
