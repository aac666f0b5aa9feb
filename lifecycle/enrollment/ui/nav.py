"""Navigation, home card and badges of enrolments."""

from django.http import HttpRequest
from django.utils import timezone

from lifecycle.core.ui.links import list_url
from lifecycle.enrollment.selectors import enrolments_to_decide
from lifecycle.policies.domain.states import EnrolItemState, EnrolmentState
from portal.access.models import KEEPERS
from portal.access.registry import Card, Page, register_home_card, register_page
from portal.ui.frame.context import lake_or_none, person
from portal.ui.frame.states import StateLook, register_states

LOOKS = {
    EnrolmentState.UNDOING.value: StateLook("Being taken back", "arrow-back-up", "busy"),
    EnrolItemState.KEPT.value: StateLook(
        "Left as it is", "player-skip-forward", "warn", "Somebody changed it since."
    ),
}


def register_pages() -> None:
    """Add the navigation, the words and the home card."""
    register_states(LOOKS)
    register_page(Page("Policy", "Enrolments", "lifecycle:enrolments", "login-2", 41, KEEPERS))
    register_home_card(enrolments_card)


def enrolments_card(request: HttpRequest) -> Card | None:
    """Tell an admin of enrolments that wait for them."""
    lake = lake_or_none(request)
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
