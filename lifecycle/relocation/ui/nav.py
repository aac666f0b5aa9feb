"""Navigation entry, home card and labels of relocation plans."""

from lifecycle.relocation.services.plans import FIXES
from portal.access.registry import Page, register_home_card, register_page
from portal.ui.frame.states import Badge, register_badges
from portal.ui.proposals import decide_card

BADGES = {
    "ASKED": Badge("Being checked", "eye", "busy"),
    "LEFT_OUT": Badge("Left out", "filter", "quiet"),
    "MOVED": Badge("Moved", "folder-share", "good"),
    "TAKEN_BACK": Badge("Undone", "arrow-back-up", "info"),
    "UNSETTLED": Badge("Incomplete", "alert-circle", "bad", "Needs a person's attention."),
}

fixes_card = decide_card(
    FIXES,
    title="Relocation plans to decide",
    icon="folder-share",
    order=12,
)


def register_pages() -> None:
    """Add the navigation, the home card and the words."""
    register_badges(BADGES)
    register_page(Page("approvals", "Relocation plans", "lifecycle:path-fixes", 20))
    register_home_card(fixes_card)
