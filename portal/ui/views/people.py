"""Pages of accounts, their sign-in methods, roles and departures, which an admin changes."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from portal.access.fresh import require_fresh
from portal.access.lakes import all_lakes, several_lakes
from portal.access.models import User
from portal.access.roles.domain import ROLES
from portal.access.selectors import read_along
from portal.lake.errors import NotAllowed, NotVisible, PortalError
from portal.people.deprovisioning import person_close, person_reopen
from portal.people.role_changes import role_grant, role_take
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


# Two forms stand on the page, and both know a person.
FORM_IDS = "role-%s"


class RoleForm(forms.Form):
    """A role on one lake that a person gets or loses."""

    username = forms.CharField(label="User name", max_length=150)
    do = forms.ChoiceField(label="Change", choices=[("grant", "Grant"), ("take", "Take")])
    role = forms.ChoiceField(
        label="Role", choices=[(one, one.capitalize()) for one in sorted(ROLES, reverse=True)]
    )
    # Not called `lake`: by that name every form says the lake of its page.
    on = forms.ChoiceField(label="On the lake")
    reason = forms.CharField(label="Reason", max_length=1000)

    def __init__(self, data: QueryDict | None = None) -> None:
        super().__init__(data, auto_id=FORM_IDS)
        on = self.fields["on"]
        if isinstance(on, forms.ChoiceField):
            on.choices = [(name, name) for name in sorted(all_lakes())]


@require_GET
def people(request: HttpRequest) -> HttpResponseBase:
    """List the accounts, also as CSV."""
    check_portal_staff(request)
    chosen = PeopleFilter(request.GET, queryset=people_all())
    rows = filtered(chosen)
    if request.GET.get("format") == "csv":
        ordered = rows.order_by("username").iterator(chunk_size=2_000)
        return stream_csv((named(row) for row in ordered), EXPORTS, filename="people.csv")
    return _page(request, chosen, RoleForm())


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


@require_POST
@require_fresh
def role_change(request: HttpRequest) -> HttpResponse:
    """Grant a role on one lake, or take one."""
    user = person(request)
    if not user.is_portal_admin:  # who sees no form must not get it back with its errors
        raise NotAllowed("person.role", "Only an admin of all lakes grants and takes roles.")
    form = RoleForm(request.POST)
    if form.is_valid():
        said, change = form.cleaned_data, role_take
        if said["do"] == "grant":
            change = role_grant
        role, username = f"{said['role']}@{said['on']}", said["username"]
        try:
            change(username, role, user=user, reason=said["reason"], now=timezone.now())
        except PortalError as error:
            form.add_error(None, error.message)
        else:
            has = "has" if said["do"] == "grant" else "has no longer"
            messages.success(request, f"{username} {has} the role {said['role']} on {said['on']}.")
            return redirect("ui:people")
    return _page(request, PeopleFilter(request.GET, queryset=people_all()), form, status=400)


def _page(
    request: HttpRequest, chosen: PeopleFilter, form: RoleForm, *, status: int = 200
) -> HttpResponse:
    page = keyset_page(filtered(chosen), request.GET, orders=ORDERS)
    is_admin = person(request).is_portal_admin
    context = {
        "filter": chosen,
        "page": page,
        "people": [named(row) for row in page.rows],
        "may_close": is_admin,
        # Whoever sent it, also with one lake, is told what was wrong with it.
        "form": form if is_admin and (several_lakes() or form.is_bound) else None,
    }
    return render(request, "portal/people.html", context, status=status)


def check_portal_staff(request: HttpRequest) -> None:
    """Let admins and operators of all lakes in; for others there is no such page."""
    if not person(request).is_portal_staff:
        raise NotVisible("page.missing", "There is nothing at this address for you.")


def named(row: User) -> User:
    """Add the roles in words, from what was read along; with one lake none is named."""
    grants = sorted(read_along(row))
    names = [str(one) if several_lakes() else one.role for one in grants]
    row.role_names = list(dict.fromkeys(names)) or ["owner"]  # type: ignore[attr-defined]  # for page, CSV and API
    return row
