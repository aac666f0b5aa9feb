"""Navigation and home card of removals."""

from optimizer.removals.services.removals import REMOVALS
from portal.access.registry import Page, register_home_card, register_page
from portal.ui.proposals import decide_card
from portal.ui.templatetags.lw import human_bytes

removals_card = decide_card(
    REMOVALS,
    title="Removals from tables to decide",
    icon="clipboard-check",
    order=12,
    detail=lambda rows: f"{human_bytes(sum(one.n_bytes for one in rows))} would be freed",
)


def register_pages() -> None:
    """Add the navigation and the home card."""
    register_page(Page("approvals", "Removals", "optimizer:removals", 40))
    register_home_card(removals_card)
