"""Pages of accounts, their sign-in methods and departures. An admin closes and reopens accounts."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from portal.access.fresh import require_fresh
from portal.access.models import User
from portal.access.roles.domain import ROLES
from portal.lake.errors import NotVisible
from portal.people.deprovisioning import person_close, person_reopen
from portal.people.selectors import people_all
from portal.ui.frame.context import person
from portal.ui.lists.csv import stream_csv
from portal.ui.lists.filters import filtered
from portal.ui.lists.keyset import keyset_page
from portal.ui.lists.tables import Column
from portal.ui.people_filters import PeopleFilter

ORDERS = {"name": ("username",), "-name": ("-username",), "-seen": ("-last_login",)}
EXPORTS = tuple(
    Column(key=key, title=key)
    for key in ("username", "first_name", "email", "role_names", "way", "state", "last_login",
                "left_at", "left_reason")
)  # fmt: skip


@require_GET
def people(request: HttpRequest) -> HttpResponseBase:
    """List the accounts, also as CSV."""
    check_portal_staff(request)
    chosen = PeopleFilter(request.GET, queryset=people_all())
    rows = filtered(chosen)
    if request.GET.get("format") == "csv":
        ordered = rows.order_by("username").iterator(chunk_size=2_000)
        return stream_csv((named(row) for row in ordered), EXPORTS, filename="people.csv")
    page = keyset_page(rows, request.GET, orders=ORDERS)
    context = {
        "filter": chosen,
        "page": page,
        "people": [named(row) for row in page.rows],
        "may_close": person(request).is_portal_admin,
    }
    return render(request, "portal/people.html", context)


@require_POST
@require_fresh
def close(request: HttpRequest, username: str) -> HttpResponse:
    """Close an account: its sessions end, its approvals count no longer."""
    reason = request.POST.get("reason", "")
    person_close(username, user=person(request), reason=reason, now=timezone.now())
    messages.success(request, f"{username} has left: sessions ended, approvals count no longer.")
    return redirect("ui:people")


@require_POST
@require_fresh
def reopen(request: HttpRequest, username: str) -> HttpResponse:
    """Open an account again."""
    reason = request.POST.get("reason", "")
    person_reopen(username, user=person(request), reason=reason, now=timezone.now())
    messages.success(request, f"{username} may sign in again, with the roles they had.")
    return redirect("ui:people")


def check_portal_staff(request: HttpRequest) -> None:
    """Let admins and operators of all lakes in; for others there is no such page."""
    if not person(request).is_portal_staff:
        raise NotVisible("page.missing", "There is nothing at this address for you.")


def named(row: User) -> User:
    """Add the roles in words, from the groups that were read along."""
    roles = sorted({group.name for group in row.groups.all()} & ROLES)
    row.role_names = roles or ["owner"]  # type: ignore[attr-defined]  # for page, CSV and API
    return row
