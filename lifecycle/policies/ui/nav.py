"""Navigation entries, home cards and labels of policies, requests and enrollments."""

from django.http import HttpRequest
from django.utils import timezone

from lifecycle.core.ui.links import list_url
from lifecycle.policies.selectors.requests import requests_to_answer
from portal.access.registry import Card, Page, register_home_card, register_page
from portal.ui.frame.context import lake_or_none, person


def register_pages() -> None:
    """Add the navigation and the home card."""
    register_page(Page("Policy", "Policy requests", "lifecycle:policy-requests", "message-2", 42))
    register_page(Page("Lifecycle", "Yes to still-read data", "lifecycle:still-read", "eye", 24))
    register_page(Page("Paths", "Waivers", "lifecycle:waivers", "route", 32))
    register_home_card(requests_card)


def requests_card(request: HttpRequest) -> Card | None:
    """Tell a person of requests that wait for their word."""
    lake = lake_or_none(request)
    waiting = requests_to_answer(lake, person(request), now=timezone.now()) if lake else []
    if not lake or not waiting:
        return None
    return Card(
        kind="waiting",
        title="Policy requests to answer",
        value=f"{len(waiting):,}",
        url=list_url("policy-requests", lake, state="PENDING"),
        detail=f"{waiting[0].name} by {waiting[0].requested_by} waits longest",
        icon="message-2",
        tone="warn",
        order=22,
    )
