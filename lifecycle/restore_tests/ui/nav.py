"""Navigation entry, home card and labels of restore tests."""

from django.http import HttpRequest
from django.utils import timezone

from lifecycle.core.ui.links import list_url
from lifecycle.restore_tests.domain import VerificationStatus
from lifecycle.restore_tests.selectors import verification_counts
from portal.access.registry import Card, Page, register_home_card, register_page
from portal.ui.frame.context import lake_or_none, person
from portal.ui.frame.states import Badge, register_badges

_LOOKS = {
    "PROVEN": Badge("Verified", "shield-check", "good", "A restore test restored it and compared."),
    "DIFFERS": Badge("Differs", "alert-circle", "bad", "It would not come back as it was."),
    "INCOMPLETE": Badge("Inconclusive", "help-circle", "warn"),
    "WAITING": Badge("Not verified yet", "hourglass", "quiet", "Its turn comes."),
    "OVERDUE": Badge("Overdue", "clock-exclamation", "warn", "Its last verification is too old."),
}


def register_pages() -> None:
    """Add the navigation, the home card and the words."""
    register_badges(_LOOKS)
    register_page(Page("backups", "Restore tests", "lifecycle:drills", 20))
    register_home_card(verifications_card)


def verifications_card(request: HttpRequest) -> Card | None:
    """Notify of databases whose restore failed in a restore test or was not verified for long."""
    user = person(request)
    lake = lake_or_none(request)
    if lake is None or not user.is_lake_staff_of(lake):
        return None
    counts = verification_counts(now=timezone.now())
    n_failed, n_overdue = (
        counts[lake, VerificationStatus.FAILED],
        counts[lake, VerificationStatus.OVERDUE],
    )
    if not n_failed + n_overdue:
        return None
    return Card(
        kind="waiting",
        title="Restores not verified",
        value=f"{n_failed + n_overdue:,}",
        url=list_url("drills", lake),
        detail=f"{n_failed} failed in a restore test, {n_overdue} overdue",
        icon="test-pipe",
        tone="bad" if n_failed else "warn",
        order=12,
    )
