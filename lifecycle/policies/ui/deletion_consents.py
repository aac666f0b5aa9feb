"""The page of owners' yeses to data that is recently read, and the steps that make and end one."""

from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from lifecycle.core.ui.links import details_url, list_url, table_url
from lifecycle.models import DeletionConsent
from lifecycle.policies.selectors.deletion_consents import YES_ORDERS, YesFilter, yes_visible
from lifecycle.policies.services.deletion_consents import (
    ConsentParams,
    deletion_consent_give,
    deletion_consent_withdraw,
)
from portal.access.lakes import get_lake
from portal.lake.clock import day_of
from portal.lake.errors import RuleViolation
from portal.ui.frame.addresses import back_or
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
        return details_url(row.lake, row.db, row.table, row.partition)
    return table_url(row.lake, row.db, row.table)


YESES = ListSpec(
    template="lifecycle/deletion_consents.html",
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
def deletion_consent_new(request: HttpRequest) -> HttpResponseRedirect:
    """Say that data may go although it is recently read."""
    lake, form = current_lake(request), YesForm(request.POST)
    if not form.is_valid():
        raise RuleViolation(
            "still_read.form", "Enter what may be deleted, until which day, and a reason."
        )
    made = deletion_consent_give(
        lake, ConsentParams(**form.cleaned_data), user=person(request), now=timezone.now()
    )
    messages.success(request, f"Recorded: {made.name} may be planned until {made.until}.")
    return HttpResponseRedirect(back_or(request, _url(made)))


@require_POST
def deletion_consent_end(request: HttpRequest, yes_id: UUID) -> HttpResponseRedirect:
    """Take a yes back."""
    lake = current_lake(request)
    deletion_consent_withdraw(lake, yes_id, user=person(request), now=timezone.now())
    messages.success(request, "The consent is withdrawn: recently read data is kept again.")
    return HttpResponseRedirect(back_or(request, list_url("still-read", lake)))
