"""Navigation entry, home card and labels of fix plans."""

from django.http import HttpRequest
from django.utils import timezone

from lifecycle.core.ui.links import list_url
from lifecycle.relocation.selectors import fixes_to_decide
from portal.access.registry import Card, Page, register_home_card, register_page
from portal.ui.frame.context import lake_or_none, person
from portal.ui.frame.states import StateLook, register_states

LOOKS = {
    "ASKED": StateLook("Being looked at", "eye", "busy"),
    "LEFT_OUT": StateLook("Left out", "filter", "quiet"),
    "MOVED": StateLook("Moved", "folder-share", "good"),
    "TAKEN_BACK": StateLook("Taken back", "arrow-back-up", "info"),
    "UNSETTLED": StateLook("Half done", "alert-circle", "bad", "A person must look at it."),
}


def register_pages() -> None:
    """Add the navigation, the home card and the words."""
    register_states(LOOKS)
    register_page(Page("Paths", "Fix plans", "lifecycle:path-fixes", "folder-share", 31))
    register_home_card(decide_card)


def decide_card(request: HttpRequest) -> Card | None:
    """Tell an admin of fix plans that wait for them."""
    lake = lake_or_none(request)
    if lake is None:
        return None
    waiting = fixes_to_decide(lake, person(request), now=timezone.now())
    if not waiting:
        return None
    return Card(
        kind="waiting",
        title="Fix plans to decide",
        value=f"{len(waiting):,}",
        url=list_url("path-fixes", lake, state="PENDING"),
        icon="folder-share",
        tone="warn",
        order=12,
    )
