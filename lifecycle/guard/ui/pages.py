"""The pages of what the guard told: what anyone dropped, and alarms about LEVEL and TTL."""

from dataclasses import replace
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_GET, require_POST

from lifecycle.core.ui.links import list_url
from lifecycle.guard.selectors import (
    DROPPED_ORDERS,
    POLICY_ORDERS,
    DroppedFilterSet,
    PolicyFilterSet,
    dropped_detail,
    dropped_visible,
    get_dropped_for_user,
    policy_events_visible,
)
from lifecycle.guard.services.alarms import policy_alarms_close
from lifecycle.guard.services.events import DROPPED_KEPT
from lifecycle.models import DroppedObject
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.tables import Column


def _dropped_url(row: DroppedObject) -> str:
    path = reverse("lifecycle:dropped-object", args=[row.public_id])
    return f"{path}?{urlencode({'lake': row.lake})}"


DROPPED = ListSpec(
    template="lifecycle/dropped.html",
    caption="Dropped objects",
    columns=(
        Column(key="__str__", title="Name", kind="code", sort="name", url=_dropped_url),
        Column(key="table_type", title="Type", kind="template", template="lifecycle/_dropped.html"),
        Column(key="dropped_at", title="Dropped", kind="ago", sort="dropped"),
        Column(key="dropped_by", title="By"),
        Column(key="owner", title="Owner"),
        Column(key="n_partitions", title="Partitions", kind="count"),
        Column(key="n_columns", title="Columns", kind="count"),
        Column(key="location", title="Path", kind="template", template="lifecycle/_place.html"),
    ),
    orders=DROPPED_ORDERS,
    filename="dropped-by-anyone.csv",
    exports=(
        "db", "table", "table_type", "dropped_at", "dropped_by", "owner", "db_owner",
        "n_partitions", "n_columns", "location", "delete_data", "with_database", "event_id",
    ),
)  # fmt: skip
POLICY = ListSpec(
    template="lifecycle/policy_alarms.html",
    caption="Changes of LEVEL and TTL, and breaches of the guard's rules",
    columns=(
        Column(key="__str__", title="Name", kind="code"),
        Column(
            key="outcome",
            title="Result",
            kind="template",
            template="lifecycle/_policy_outcome.html",
        ),
        Column(key="at", title="When", kind="ago", sort="at"),
        Column(
            key="actor", title="Who", kind="template", template="lifecycle/_policy_actor.html"
        ),
        Column(key="owner", title="Owner"),
        Column(
            key="after", title="What", kind="template", template="lifecycle/_policy_change.html"
        ),
    ),
    orders=POLICY_ORDERS,
    filename="policy-alarms.csv",
    exports=(
        "db", "table", "at", "operation", "outcome", "actor", "owner", "db_owner", "before",
        "after", "new_name", "rules", "is_alarm", "closed_by", "closed_at", "closed_reason",
        "event_id",
    ),
)  # fmt: skip


@require_GET
def dropped(request: HttpRequest) -> HttpResponseBase:
    """List what anyone dropped, from the newest back."""
    rows = dropped_visible(current_lake(request), person(request))
    filterset = DroppedFilterSet(request.GET, queryset=rows)
    context = {"kept_days": DROPPED_KEPT.days}
    return list_response(request, DROPPED, filterset=filterset, context=context)


@require_GET
def dropped_object(request: HttpRequest, dropped_id: UUID) -> HttpResponse:
    """Show all that is kept of one dropped object."""
    row = get_dropped_for_user(current_lake(request), dropped_id, user=person(request))
    context = {"row": row, "detail": dropped_detail(row)}
    return render(request, "lifecycle/dropped_object.html", context)


@require_GET
def policy_alarms(request: HttpRequest) -> HttpResponseBase:
    """List policy events; admins may close the open alarms among them."""
    lake, user = current_lake(request), person(request)
    rows = policy_events_visible(lake, user)
    filterset = PolicyFilterSet(request.GET, queryset=rows)
    context = {"may_close": user.is_lake_admin_of(lake)}
    spec = replace(POLICY, select="alarm" if user.is_lake_admin_of(lake) else "")
    return list_response(request, spec, filterset=filterset, context=context)


@require_POST
def policy_alarms_close_view(request: HttpRequest) -> HttpResponse:
    """Close the chosen alarms."""
    lake = current_lake(request)
    chosen = [int(text) for text in request.POST.getlist("alarm") if text.isdecimal()]
    reason = request.POST.get("reason", "")
    n_closed = policy_alarms_close(
        lake, chosen, reason=reason, user=person(request), now=timezone.now()
    )
    messages.success(request, f"{n_closed} alarm{'' if n_closed == 1 else 's'} closed.")
    return HttpResponseRedirect(list_url("policy-alarms", lake, open="yes"))
