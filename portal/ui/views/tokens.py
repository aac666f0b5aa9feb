"""Pages of API tokens: the programs that use them, who creates them, and who ends them."""

from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from portal.access.fresh import require_fresh
from portal.access.scopes import all_scopes
from portal.lake.errors import PortalError
from portal.people.selectors import tokens_for_user
from portal.people.token_rules import MOST_CHARS, MOST_DAYS, TokenParams
from portal.people.tokens import token_end, token_make
from portal.ui.frame.context import person
from portal.ui.lists.csv import stream_csv
from portal.ui.lists.filters import filtered
from portal.ui.lists.keyset import keyset_page
from portal.ui.lists.tables import Column, Table
from portal.ui.people_filters import TokenFilter

ORDERS = {
    "-made": ("-made_at",),
    "made": ("made_at",),
    "expires": ("expires_at",),
    "-expires": ("-expires_at",),
    "used": ("last_used_at",),
    "-used": ("-last_used_at",),
}
COLUMNS = (
    Column(key="name", title="Token for"),
    Column(key="owner.username", title="Acts as", kind="code"),
    Column(key="scopes", title="May", kind="template", template="portal/_token_scopes.html"),
    Column(key="state", title="State", kind="state"),
    Column(key="made_at", title="Made", kind="ago", sort="made"),
    Column(key="last_used_at", title="Last used", kind="ago", sort="used"),
    Column(key="expires_at", title="Expires", kind="ago", sort="expires"),
    Column(key="ended_at", title="Ended", kind="template", template="portal/_token_end.html"),
)
EXPORTS = tuple(
    Column(key=key, title=key)
    for key in ("public_id", "name", "owner.username", "scopes", "state", "made_by", "made_at",
                "last_used_at", "expires_at", "ended_by", "ended_at")
)  # fmt: skip


class TokenForm(forms.Form):
    """A token that somebody wants for a program."""

    name = forms.CharField(label="Which program it is for", max_length=MOST_CHARS)
    scope = forms.ChoiceField(label="What it may do")
    days = forms.IntegerField(
        label=f"Days that it lives (1 to {MOST_DAYS})",
        min_value=1,
        max_value=MOST_DAYS,
        initial=90,
    )
    owner = forms.CharField(
        label="Service account as which it acts (empty: you)", max_length=150, required=False
    )

    def __init__(self, data: object = None, *, may_choose_owner: bool) -> None:
        super().__init__(data)  # type: ignore[arg-type]  # what POST gives
        choices = [(one.name, f"{one.name}: {one.title}") for one in all_scopes()]
        self.fields["scope"] = forms.ChoiceField(label="What it may do", choices=choices)
        if not may_choose_owner:
            del self.fields["owner"]


@require_GET
def tokens(request: HttpRequest) -> HttpResponseBase:
    """List a person's tokens, or all for admins and operators; also as CSV."""
    user = person(request)
    chosen = TokenFilter(request.GET, queryset=tokens_for_user(user, now=timezone.now()))
    rows = filtered(chosen)
    if request.GET.get("format") == "csv":
        ordered = rows.order_by("-made_at", "-pk").iterator(chunk_size=2_000)
        return stream_csv(ordered, EXPORTS, filename="api-tokens.csv")
    page = keyset_page(rows, request.GET, orders=ORDERS)
    context = {
        "filter": chosen,
        "page": page,
        "table": Table(COLUMNS, page.rows, "API tokens", orders=tuple(ORDERS), sort=page.sort),
        "scopes": all_scopes(),
    }
    return render(request, "portal/tokens.html", context)


@never_cache
@require_http_methods(["GET", "POST"])
@require_fresh
def token_new(request: HttpRequest) -> HttpResponse:
    """Ask for a token, make it, and show its secret this once: in this answer and nowhere else."""
    user = person(request)
    data = request.POST if request.method == "POST" else None
    form = TokenForm(data, may_choose_owner=user.is_portal_admin)
    if form.is_valid():
        said = form.cleaned_data
        wish = TokenParams(said["name"], (said["scope"],), said["days"])
        owner = said.get("owner", "").strip() or user.username
        try:
            made = token_make(owner, wish, user=user, now=timezone.now())
            return render(request, "portal/token_made.html", {"made": made})
        except PortalError as error:
            form.add_error(None, error.message)
    context = {"form": form, "scopes": all_scopes()}
    return render(request, "portal/token_new.html", context, status=400 if form.errors else 200)


@require_POST
def end(request: HttpRequest, token_id: UUID) -> HttpResponse:
    """End a token; whatever program sends it is refused from now on."""
    token = token_end(token_id, user=person(request), now=timezone.now())
    messages.success(request, f"The token for {token.name} was revoked.")
    return redirect("ui:tokens")
