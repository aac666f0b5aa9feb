"""Pages of the people behind the names of service accounts, and who assigned them."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from portal.access.fresh import require_fresh
from portal.access.models import User
from portal.lake.errors import NotAllowed, NotVisible, RuleViolation
from portal.people.owners import owner_set
from portal.people.selectors import owners_mapped
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.csv import stream_csv
from portal.ui.lists.filters import filtered
from portal.ui.lists.keyset import keyset_page
from portal.ui.lists.tables import Column, Table
from portal.ui.people_filters import OwnerFilter

ORDERS = {
    "owner": ("owner", "username"),
    "-owner": ("-owner", "-username"),
    "-added": ("-added_at",),
}
COLUMNS = (
    Column(key="owner", title="Owner in the metastore", kind="code", sort="owner"),
    Column(key="username", title="Responsible person"),
    Column(key="state", title="State", kind="state"),
    Column(key="added_by", title="Set by"),
    Column(key="added_at", title="Since", kind="ago", sort="added"),
)
# Two forms stand on the page, and both know an owner.
FORM_IDS = "set-%s"


class OwnerForm(forms.Form):
    """Who stands behind an owner's name from now on."""

    owner = forms.CharField(label="Owner, as the metastore has it", max_length=128)
    people = forms.CharField(
        label="User names, with commas between (empty: take the name off)",
        required=False,
        max_length=4_000,
    )
    reason = forms.CharField(label="Reason", max_length=1000)


@require_GET
def owners(request: HttpRequest) -> HttpResponseBase:
    """List the mapped names, also as CSV; an admin changes them."""
    lake = current_lake(request)
    check_lake_staff(person(request), lake)
    if request.GET.get("format") == "csv":
        rows = filtered(_filter(request)).order_by("owner", "username")
        shown = rows.iterator(chunk_size=2_000)
        return stream_csv(shown, COLUMNS, filename=f"owners-{lake}.csv")
    initial = {"owner": request.GET.get("owner", "")}
    return _page(request, OwnerForm(initial=initial, auto_id=FORM_IDS))


@require_POST
@require_fresh
def owner_change(request: HttpRequest) -> HttpResponse:
    """Put people behind an owner's name."""
    lake, user = current_lake(request), person(request)
    if not user.is_lake_admin_of(lake):  # who sees no form must not get it back with its errors
        raise NotAllowed("owner.role", "Only an admin maps an owner's name to people.")
    form = OwnerForm(request.POST, auto_id=FORM_IDS)
    if not form.is_valid():
        return _page(request, form, status=400)
    data = form.cleaned_data
    names = [name.strip() for name in data["people"].split(",")]
    try:
        after = owner_set(
            lake, data["owner"], names, user=user, reason=data["reason"], now=timezone.now()
        )
    except RuleViolation as error:
        form.add_error(None, error.message)
        return _page(request, form, status=400)
    who = ", ".join(after) or "nobody but the name itself"
    messages.success(request, f"Mapped account {data['owner']} to {who}.")
    return redirect("ui:owners")


def check_lake_staff(user: User, lake: str) -> None:
    """Let a lake's admins and operators in; for others there is no such page."""
    if not user.is_lake_staff_of(lake):
        raise NotVisible("page.missing", "There is nothing at this address for you.")


def _filter(request: HttpRequest) -> OwnerFilter:
    return OwnerFilter(request.GET, queryset=owners_mapped(current_lake(request)))


def _page(request: HttpRequest, form: OwnerForm, *, status: int = 200) -> HttpResponse:
    chosen = _filter(request)
    page = keyset_page(filtered(chosen), request.GET, orders=ORDERS)
    table = Table(COLUMNS, page.rows, "Owners", orders=tuple(ORDERS), sort=page.sort)
    context = {
        "filter": chosen,
        "page": page,
        "table": table,
        "form": form,
        "may_change": person(request).is_lake_admin_of(current_lake(request)),
    }
    return render(request, "portal/owners.html", context, status=status)
