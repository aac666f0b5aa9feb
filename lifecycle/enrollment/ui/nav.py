"""Navigation, home card and badges of enrollments."""

from lifecycle.enrollment.services.enrollments import ENROLLMENTS
from lifecycle.policies.domain.states import EnrollmentItemState, EnrollmentState
from portal.access.registry import Page, register_home_card, register_page
from portal.access.roles.domain import STAFF
from portal.ui.frame.states import Badge, register_badges
from portal.ui.proposals import decide_card

BADGES = {
    EnrollmentState.UNDOING.value: Badge("Being undone", "arrow-back-up", "busy"),
    EnrollmentItemState.KEPT.value: Badge(
        "Left as it is", "player-skip-forward", "warn", "Somebody changed it since."
    ),
}

enrollments_card = decide_card(
    ENROLLMENTS,
    title="Enrollments to decide",
    icon="login-2",
    order=21,
    detail=lambda rows: f"{sum(one.n_tables for one in rows):,} tables",
)


def register_pages() -> None:
    """Add the navigation, the words and the home card."""
    register_badges(BADGES)
    register_page(Page("approvals", "Enrollments", "lifecycle:enrolments", 60, STAFF))
    register_home_card(enrollments_card)
