"""The page of owners' yeses to data that is recently read, and the steps that make and end one."""

from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from lifecycle.core.ui.links import list_url, table_url, why_url
from lifecycle.models import DeletionConsent
from lifecycle.policies.selectors.still_read import YES_ORDERS, YesFilter, yes_visible
from lifecycle.policies.services.still_read import YesWish, still_read_take_back, still_read_yes
from portal.access.lakes import get_lake
from portal.lake.clock import day_of
from portal.lake.errors import RuleViolation
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.tables import Column


class YesForm(forms.Form):
    """What an owner says."""

    db = forms.CharField(max_length=128)
    table = forms.CharField(max_length=256)
    partition = forms.CharField(max_length=767, required=False, strip=False)
    until = forms.DateField()
    reason = forms.CharField(max_length=1000)


def _url(row: DeletionConsent) -> str:
    if row.partition:
        return why_url(row.lake, row.db, row.table, row.partition)
    return table_url(row.lake, row.db, row.table)


YESES = ListSpec(
    template="lifecycle/still_read.html",
    caption="Deletion consents",
    columns=(
        Column(key="name", title="Data", kind="code", url=_url),
        Column(key="until", title="Until", kind="day"),
        Column(key="given_by", title="Given by"),
        Column(key="given_at", title="Given", kind="ago", sort="said"),
        Column(key="reason", title="Reason"),
        Column(
            key="ended_at", title="Over", kind="template", template="lifecycle/_yes_end.html"
        ),
    ),
    orders=YES_ORDERS,
    filename="still-read.csv",
    exports=(
        "db", "table", "partition", "until", "reason", "given_by", "given_at", "ended_at",
        "ended_by",
    ),
)  # fmt: skip


@require_GET
def still_read(request: HttpRequest) -> HttpResponseBase:
    """List the yeses that stand (or are over) on what the person sees."""
    lake, user = current_lake(request), person(request)
    today = day_of(timezone.now(), get_lake(lake).zone)
    filterset = YesFilter(request.GET, queryset=yes_visible(lake, user, today=today))
    return list_response(request, YESES, filterset=filterset, context={})


@require_POST
def still_read_new(request: HttpRequest) -> HttpResponseRedirect:
    """Say that data may go although it is recently read."""
    lake, form = current_lake(request), YesForm(request.POST)
    if not form.is_valid():
        raise RuleViolation(
            "still_read.form", "Enter what may be deleted, until which day, and a reason."
        )
    made = still_read_yes(
        lake, YesWish(**form.cleaned_data), user=person(request), now=timezone.now()
    )
    messages.success(request, f"Recorded: {made.name} may be planned until {made.until}.")
    return HttpResponseRedirect(_url(made))


@require_POST
def still_read_end(request: HttpRequest, yes_id: UUID) -> HttpResponseRedirect:
    """Take a yes back."""
    lake = current_lake(request)
    still_read_take_back(lake, yes_id, user=person(request), now=timezone.now())
    messages.success(request, "The consent is withdrawn: recently read data is kept again.")
    return HttpResponseRedirect(list_url("still-read", lake))
