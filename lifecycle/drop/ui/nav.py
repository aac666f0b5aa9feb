"""Navigation entries, home cards and labels of plans, standing rules and backups."""

from django.http import HttpRequest

from lifecycle.core.ui.links import list_url
from lifecycle.drop.domain.refusal import EXPLANATIONS, LeftOut
from lifecycle.drop.selectors.plans import deletion_requests_visible, plans_under_way
from lifecycle.drop.services.plans import PLANS
from lifecycle.drop.services.standing_rules import RULES
from lifecycle.models import DeletionRequest, DropPlan, PlanState
from portal.access.registry import Card, Page, register_home_card, register_page
from portal.access.roles.domain import STAFF
from portal.ui.frame.context import lake_or_none, person
from portal.ui.frame.states import Badge, register_badges
from portal.ui.proposals import decide_card
from portal.ui.templatetags.lw import human_bytes

BADGES = {
    PlanState.DRAFTING.value: Badge("Preparing", "pencil", "busy"),
    PlanState.NOT_CREATED.value: Badge(
        "Not created",
        "clipboard-off",
        "quiet",
        "Nothing of the selection may be dropped, or too much.",
    ),
    "OPEN": Badge("Open", "circle", "warn"),
    "PLANNED": Badge("In a plan", "clipboard-list", "info"),
    "CLOSED": Badge("Closed", "circle-check", "quiet"),
    "ACTIVE": Badge("Active", "repeat", "good"),
    "ENDED": Badge("Ended", "player-stop", "quiet"),
    "SKIPPED": Badge("Skipped", "player-skip-forward", "warn", "Changed since; skipped."),
    "NOT_REACHED": Badge(
        "Not reached", "player-stop", "quiet", "The run ended before it came to them."
    ),
    "RETURNED": Badge("Moved back", "arrow-back-up", "info"),
    "DEFERRED": Badge("Deferred", "clock", "quiet"),
    "NEW_DATA": Badge("New data kept", "file-plus", "warn", "New data came meanwhile."),
    "GONE": Badge("Already deleted", "ghost", "quiet", "Somebody else had dropped it."),
    "CONFLICT": Badge("Conflict", "alert-triangle", "warn"),
    "RESTORE": Badge("Will be restored", "restore", "good"),
    "DATA_ONLY": Badge("Data will be restored", "restore", "good"),
    "ALREADY_RESTORED": Badge("Already restored", "circle-check", "quiet"),
    "RESTORED_BEFORE": Badge("Already restored", "circle-check", "quiet"),
    "UNDER_WAY": Badge("Being restored", "progress", "quiet", "By another restore."),
    "NAME_TAKEN": Badge("Name taken", "alert-triangle", "warn"),
    "PLACE_TAKEN": Badge("Place taken", "alert-triangle", "warn"),
    "TABLE_REPLACED": Badge("Table replaced", "alert-triangle", "warn"),
    "STANDS": Badge("Already present", "circle-check", "quiet", "It is not missing."),
    "MISFIT": Badge("Does not fit", "alert-triangle", "warn"),
    "ELSEWHERE": Badge("Other file system", "alert-triangle", "warn"),
    "DAMAGED": Badge("Damaged", "alert-circle", "bad"),
    "DUE": Badge("Planned", "clock", "quiet"),
    "CLEAN": Badge("As it should be", "circle-check", "good"),
    "LATE_COMMIT": Badge("Late commit", "alert-triangle", "warn", "Written after the drop."),
}
# These have their look as classes of the scan, or as what became of an item.
_CLASSES = frozenset(
    {
        *("SOON", "STILL_READ", "HELD", "NOT_ENROLLED", "UNSUPPORTED", "NONCONFORMING", "UNREADY"),
        *("KEEP_FOREVER", "MISSING_DIRECTORY", "UNKNOWN", "DROPPED"),
    }
)


def _plans_detail(plans: list[DropPlan]) -> str:
    first = min(plan.approval.expires_at for plan in plans if plan.approval is not None)
    size = human_bytes(sum(plan.n_bytes for plan in plans))
    return f"{size}; first expires {first:%Y-%m-%d}"


approve_card = decide_card(
    PLANS,
    title="Drop plans to decide",
    icon="clipboard-check",
    order=10,
    detail=_plans_detail,
)
rules_card = decide_card(
    RULES,
    title="Standing rules to decide",
    icon="repeat",
    order=11,
)


def register_pages() -> None:
    """Add the navigation, the home cards and the words."""
    register_badges(BADGES)
    register_badges(
        {
            reason.value: Badge(
                reason.value.replace("_", " ").capitalize(), "filter", "quiet", EXPLANATIONS[reason]
            )
            for reason in LeftOut
            if reason.value not in _CLASSES
        }
    )
    register_page(Page("approvals", "Drop plans", "lifecycle:plans", 10))
    register_page(Page("approvals", "Standing rules", "lifecycle:standing-rules", 50, STAFF))
    register_page(Page("lifecycle", "Deletion requests", "lifecycle:wishes", 50))
    for card in (approve_card, rules_card, mine_card, deletion_requests_card):
        register_home_card(card)


def mine_card(request: HttpRequest) -> Card | None:
    """Tell a maker where their plans stand."""
    lake = lake_or_none(request)
    plans = list(plans_under_way(lake, person(request))[:200]) if lake else []
    if not lake or not plans:
        return None
    words = sorted({PlanState(plan.state).label for plan in plans})
    return Card(
        kind="waiting",
        title="My open plans",
        value=f"{len(plans):,}",
        url=list_url("plans", lake, requested_by=person(request).username),
        detail=", ".join(words),
        icon="clipboard-list",
        order=30,
    )


def deletion_requests_card(request: HttpRequest) -> Card | None:
    """Tell makers of plans what owners ask for."""
    lake, user = lake_or_none(request), person(request)
    if not lake or not user.is_lake_staff_of(lake):
        return None
    n_open = deletion_requests_visible(lake, user).filter(state=DeletionRequest.State.OPEN).count()
    if not n_open:
        return None
    return Card(
        kind="waiting",
        title="Deletion requests",
        value=f"{n_open:,}",
        url=list_url("wishes", lake),
        icon="message-circle",
        order=25,
    )
