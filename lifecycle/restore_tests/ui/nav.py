"""Navigation entry, home card and labels of restore tests."""

from django.http import HttpRequest
from django.utils import timezone

from lifecycle.core.ui.links import list_url
from lifecycle.restore_tests.domain import ProofState
from lifecycle.restore_tests.selectors import proof_counts
from portal.access.registry import Card, Page, register_home_card, register_page
from portal.ui.frame.context import lake_or_none, person
from portal.ui.frame.states import StateLook, register_states

_LOOKS = {
    "PROVEN": StateLook("Proven", "shield-check", "good", "A drill restored it and compared."),
    "DIFFERS": StateLook("Differs", "alert-circle", "bad", "It would not come back as it was."),
    "INCOMPLETE": StateLook("Proves nothing", "help-circle", "warn"),
    "WAITING": StateLook("Not proven yet", "hourglass", "quiet", "Its turn comes."),
    "OVERDUE": StateLook("Overdue", "clock-exclamation", "warn", "Its last proof is too old."),
}


def register_pages() -> None:
    """Add the navigation, the home card and the words."""
    register_states(_LOOKS)
    register_page(Page("Lifecycle", "Restore drills", "lifecycle:drills", "test-pipe", 26))
    register_home_card(proofs_card)


def proofs_card(request: HttpRequest) -> Card | None:
    """Tell keepers of databases whose restore failed in a drill, or was not proven for long."""
    user = person(request)
    if not user.is_lake_keeper:
        return None
    lake = lake_or_none(request)
    if lake is None:
        return None
    counts = proof_counts(now=timezone.now())
    n_failed, n_overdue = counts[lake, ProofState.FAILED], counts[lake, ProofState.OVERDUE]
    if not n_failed + n_overdue:
        return None
    return Card(
        kind="waiting",
        title="Restores not proven",
        value=f"{n_failed + n_overdue:,}",
        url=list_url("drills", lake),
        detail=f"{n_failed} failed in a drill, {n_overdue} overdue",
        icon="test-pipe",
        tone="bad" if n_failed else "warn",
        order=12,
    )
