"""Which entries, home cards and words do policies, requests and enrolments have?"""

from django.http import HttpRequest
from django.utils import timezone

from lifecycle.domain.policy_states import EnrolItemState, EnrolmentState
from lifecycle.selectors.enrolments import enrolments_to_decide
from lifecycle.selectors.policy_requests import requests_to_answer
from lifecycle.ui.links import list_url
from portal.access.models import KEEPERS
from portal.access.registry import Card, Page, register_home_card, register_page
from portal.lake.errors import NotVisible
from portal.ui.frame import current_lake, person
from portal.ui.states import StateLook, register_states

LOOKS = {
    EnrolmentState.UNDOING.value: StateLook("Being taken back", "arrow-back-up", "busy"),
    EnrolItemState.KEPT.value: StateLook(
        "Left as it is", "player-skip-forward", "warn", "Somebody changed it since."
    ),
}


def register_pages() -> None:
    """Add the navigation, the words and the home cards."""
    register_states(LOOKS)
    register_page(Page("Policy", "Policy requests", "lifecycle:policy-requests", "message-2", 42))
    register_page(Page("Lifecycle", "Yes to still-read data", "lifecycle:still-read", "eye", 24))
    register_page(Page("Paths", "Waivers", "lifecycle:waivers", "route", 32))
    register_page(Page("Policy", "Enrolments", "lifecycle:enrolments", "login-2", 41, KEEPERS))
    register_home_card(requests_card)
    register_home_card(enrolments_card)


def requests_card(request: HttpRequest) -> Card | None:
    """Tell a person of requests that wait for their word."""
    lake = _lake(request)
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


def enrolments_card(request: HttpRequest) -> Card | None:
    """Tell an admin of enrolments that wait for them."""
    lake = _lake(request)
    waiting = enrolments_to_decide(lake, person(request), now=timezone.now()) if lake else []
    if not lake or not waiting:
        return None
    return Card(
        kind="waiting",
        title="Enrolments to decide",
        value=f"{len(waiting):,}",
        url=list_url("enrolments", lake, state="PENDING"),
        detail=f"{sum(one.n_tables for one in waiting):,} tables",
        icon="login-2",
        tone="warn",
        order=21,
    )


def _lake(request: HttpRequest) -> str | None:
    try:
        return current_lake(request)
    except NotVisible:
        return None
