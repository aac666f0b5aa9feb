"""The page of holds: what is kept from being dropped or purged, by whom, why and until when."""

from datetime import date, datetime, time
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from lifecycle.backup.domain.states import HoldKind
from lifecycle.backup.models import Hold
from lifecycle.backup.services.holds import hold_release
from lifecycle.core.ui.links import list_url
from lifecycle.policies.selectors.holds import (
    HOLD_ORDERS,
    HoldPageFilter,
    get_hold_for_user,
    holds_ended,
    holds_visible,
)
from lifecycle.policies.services.holding import HoldParams, legal_hold_place
from portal.access.models import User
from portal.lake.errors import NotAllowed, NotVisible
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.csv import stream_csv
from portal.ui.lists.filters import filtered
from portal.ui.lists.keyset import keyset_page
from portal.ui.lists.tables import Column

# Two forms stand on the page, and both know a database.
FORM_IDS = "place-%s"
EXPORTS = [
    Column(key=key, title=key)
    for key in (
        *("public_id", "db", "table", "partition", "kind", "until", "reason", "placed_by"),
        *("placed_at", "released_by", "released_at"),
    )
]


class HoldForm(forms.Form):
    """What an admin says when placing a legal hold."""

    db = forms.CharField(label="Database", max_length=128)
    table = forms.CharField(label="Table (empty: the whole database)", required=False)
    partition = forms.CharField(label="Partition (empty: all)", required=False, strip=False)
    until = forms.DateField(
        label="Last day (empty: until released)",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
    )
    reason = forms.CharField(label="Reason", max_length=1000)


@require_GET
def holds(request: HttpRequest) -> HttpResponseBase:
    """List the holds that stand (or have ended), also as CSV; an admin may place one."""
    if request.GET.get("format") == "csv":
        rows = filtered(_filter(request)).order_by("-placed_at", "pk")
        return stream_csv(rows.iterator(chunk_size=2_000), EXPORTS, filename="holds.csv")
    initial = {key: request.GET.get(key, "") for key in ("db", "table", "partition")}
    return _page(request, HoldForm(initial=initial, auto_id=FORM_IDS))


@require_POST
def hold_place_view(request: HttpRequest) -> HttpResponse:
    """Place a legal hold on something that the last scan saw."""
    lake, user = current_lake(request), person(request)
    if not user.is_lake_admin_of(lake):  # who sees no form must not get it back with its errors
        raise NotAllowed("hold.legal", "Only an admin may place a legal hold; ask one.")
    form = HoldForm(request.POST, auto_id=FORM_IDS)
    if not form.is_valid():
        return _page(request, form, status=400)
    data = form.cleaned_data
    wish = HoldParams(
        lake=lake,
        db=data["db"],
        table=data["table"],
        partition=data["partition"],
        until=_end_of(data["until"]),
        reason=data["reason"],
    )
    try:
        legal_hold_place(wish, user=user, now=timezone.now())
    except NotVisible as error:
        form.add_error(None, error.message)
        return _page(request, form, status=400)
    name = "/".join(filter(None, (wish.db, wish.table, wish.partition)))
    messages.success(request, f"{name} is on hold from now on.")
    return HttpResponseRedirect(list_url("holds", lake))


@require_POST
def hold_release_view(request: HttpRequest, hold: UUID) -> HttpResponse:
    """End a hold."""
    lake, user, now = current_lake(request), person(request), timezone.now()
    get_hold_for_user(lake, hold, user=user, now=now)
    hold_release(hold, user=user, reason=request.POST.get("reason", ""), now=now)
    messages.success(request, "The hold has ended. The next scan evaluates the data again.")
    return HttpResponseRedirect(list_url("holds", lake))


def _page(request: HttpRequest, form: HoldForm, *, status: int = 200) -> HttpResponse:
    user = person(request)
    filterset = _filter(request)
    page = keyset_page(filtered(filterset), request.GET, orders=HOLD_ORDERS)
    holds_shown = [(row, _may_release(row, user)) for row in page.rows]
    context = {
        "filter": filterset,
        "page": page,
        "holds": holds_shown,
        "form": form,
        "may_place": user.is_lake_admin_of(current_lake(request)),
    }
    return render(request, "lifecycle/holds.html", context, status=status)


def _filter(request: HttpRequest) -> HoldPageFilter:
    lake, user, now = current_lake(request), person(request), timezone.now()
    chosen = holds_ended if request.GET.get("state") == "ended" else holds_visible
    return HoldPageFilter(request.GET, queryset=chosen(lake, user, now=now))


def _may_release(hold: Hold, user: User) -> bool:
    if hold.released_at is not None:
        return False
    own = hold.placed_by == user.username and hold.kind != HoldKind.LEGAL
    return user.is_lake_admin_of(hold.lake) or own


def _end_of(day: date | None) -> datetime | None:
    """Return the last instant of a day in the lake's zone."""
    if day is None:
        return None
    zone = timezone.get_current_timezone()
    return datetime.combine(day, time.max, tzinfo=zone)
