"""The tab of a Hudi table's timeline: every instant with its times, and a picture of them."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from django.views.decorators.http import require_GET

from optimizer.core.ui.columns import cell
from optimizer.hudi.inspect.domain.facts import Action, InstantState
from optimizer.hudi.inspect.selectors.instants import STUCK, InstantRow, instants_of, n_archived
from optimizer.hudi.inspect.selectors.snapshots import hudi_policy_of, last_inspection
from optimizer.hudi.pages.ui import charts
from optimizer.hudi.pages.ui.lists import ANY, HeldFilter, HeldSpec, held_response
from optimizer.hudi.pages.ui.nav import frame_of
from optimizer.hudi.tables.models import INSTANT_CHARS
from optimizer.hudi.tables.selectors.tables import get_hudi_for_user
from portal.ui.frame.context import person
from portal.ui.frame.states import badge_for
from portal.ui.lists.tables import Column

PENDING = "pending"
ACTIVE, ARCHIVED = "active", "archived"

INSTANTS = HeldSpec(
    template="optimizer/hudi_timeline.html",
    caption="Instants of the timeline",
    columns=(
        Column(key="instant", title="Instant", kind="code", sort="instant"),
        Column(key="action", title="Action"),
        cell("State", "hudi_instant"),
        Column(key="requested_at", title="Requested", kind="ago"),
        Column(key="inflight_at", title="Inflight", kind="ago"),
        Column(key="completed_at", title="Completed", kind="ago", sort="completed"),
        cell("Took", "hudi_took", sort="took", is_number=True),
        Column(key="operation", title="Operation"),
        Column(key="n_operations", title="Files", kind="count", help="Written, or in its plan"),
        Column(key="by", title="By"),
    ),
    orders={
        "-instant": lambda row: row.instant,
        "instant": lambda row: row.instant,
        "-completed": lambda row: row.completed_at.timestamp() if row.completed_at else 0.0,
        "-took": lambda row: row.took or 0.0,
    },
    filename="hudi-timeline.csv",
    exports=(
        "instant", "action", "state", "requested_at", "inflight_at", "completed_at",
        "heartbeat_at", "is_archived", "operation", "n_operations", "by",
        "silent_since",
    ),
)  # fmt: skip


class InstantFilter(HeldFilter):
    """Instants by action, state, which timeline they are in, and how they begin."""

    action = forms.ChoiceField(
        choices=[ANY, *((str(one), str(one)) for one in Action)], label="Action", required=False
    )
    state = forms.ChoiceField(
        choices=lambda: [ANY, (PENDING, "Not completed"), *_states()], label="State", required=False
    )
    where = forms.ChoiceField(
        choices=[ANY, (ACTIVE, "Active"), (ARCHIVED, "Archived")], label="Timeline", required=False
    )
    instant = forms.CharField(label="Instant", required=False, max_length=INSTANT_CHARS)

    def keeps(self, row: InstantRow, chosen: Mapping[str, Any]) -> bool:
        """Whether an instant is in the list."""
        action, state, where = chosen["action"], chosen["state"], chosen["where"]
        return (
            (not action or row.action == action)
            and (not state or row.state == state or (state == PENDING and row.is_pending))
            and (not where or row.is_archived is (where == ARCHIVED))
            and row.instant.startswith(chosen["instant"])
        )


def _states() -> list[tuple[str, str]]:
    return [(str(one), badge_for(f"INSTANT_{one}").word) for one in (*InstantState, STUCK)]


@require_GET
def timeline(request: HttpRequest, table_id: int) -> HttpResponseBase:
    """Show every instant that the last look found."""
    table, now = get_hudi_for_user(table_id, person(request)), timezone.now()
    seen, policy = last_inspection(table), hudi_policy_of(table).policy
    rows = instants_of(seen.look, policy, now=now) if seen.look else []
    chosen = InstantFilter(request.GET)
    shown = {
        "charts": charts.timeline(chosen.kept(rows), now=now),
        "n_archived": n_archived(rows),
        "n_instants": len(rows),
    }
    return held_response(
        request, INSTANTS, rows=rows, chosen=chosen, context=frame_of(table, seen, shown)
    )
