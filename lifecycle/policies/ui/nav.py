"""Navigation entries, home cards and labels of policies, requests and enrollments."""

from lifecycle.policies.services.requests import REQUESTS
from portal.access.registry import Page, register_home_card, register_page
from portal.ui.proposals import decide_card

requests_card = decide_card(
    REQUESTS,
    title="Policy requests to answer",
    icon="message-2",
    order=22,
    detail=lambda rows: f"{rows[0].name} by {rows[0].requested_by} waits longest",
)


def register_pages() -> None:
    """Add the navigation and the home card."""
    register_page(Page("approvals", "Policy requests", "lifecycle:policy-requests", 30))
    register_page(Page("lifecycle", "Deletion consents", "lifecycle:still-read", 60))
    register_page(Page("paths", "Exceptions", "lifecycle:waivers", 20))
    register_home_card(requests_card)
