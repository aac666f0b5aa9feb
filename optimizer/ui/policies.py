"""The pages of policies: all scopes of a lake with settings, one scope, and a new one."""

from typing import Any

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from optimizer.domain.policy import LevelKind, kind_of_scope
from optimizer.selectors.policies import policy_current
from optimizer.selectors.policy_scopes import (
    HISTORY_ORDERS,
    KIND_WORDS,
    NAMES_AT_MOST,
    SCOPE_ORDERS,
    TABLES_SHOWN,
    ScopeFilter,
    ScopeRow,
    TableNames,
    VersionFilter,
    get_scope_for_user,
    history_of,
    scopes_visible,
    table_names,
    table_of_scope,
)
from optimizer.services.policies import policy_allowed
from optimizer.ui.policy_acts import policy_said, scope_url
from optimizer.ui.tables import cell
from portal.access.models import User
from portal.lake.errors import NotAllowed, NotVisible, RuleViolation
from portal.ui.csv import stream_csv
from portal.ui.filters import filtered
from portal.ui.frame import current_lake, person
from portal.ui.keyset import keyset_page
from portal.ui.lists import ListSpec, list_response
from portal.ui.tables import Column, Table

HISTORY = ListSpec(
    template="optimizer/policy_scope.html",
    caption="Versions of the policy",
    columns=(
        Column(key="version", title="Version", kind="count", sort="version"),
        Column(key="at", title="When", kind="ago"),
        Column(key="by", title="Who"),
        Column(key="why", title="Why", is_wide=True),
        cell("What changed", "policy_changes", is_wide=True),
    ),
    orders=HISTORY_ORDERS,
    filename="policy-history.csv",
    exports=("lake", "scope", "version", "at", "by", "why", "values", "before"),
)
COLUMNS = (
    Column(
        key="scope",
        title="Scope",
        kind="code",
        sort="scope",
        url=lambda row: scope_url(row.lake, row.scope),
    ),
    Column(key="level", title="Level"),
    cell("What it sets", "policy_values", is_wide=True),
    Column(key="n_tables", title="Tables it fits", kind="count"),
    Column(key="by", title="Set by"),
    Column(key="at", title="When", kind="ago", sort="at"),
    Column(key="why", title="Why", is_wide=True),
)
EXPORTS = ("lake", "scope", "level", "version", "values", "n_tables", "by", "at", "why")


class NewForm(forms.Form):
    """The scope of a policy that is to be set."""

    scope = forms.CharField(max_length=385, label="Scope")


@login_required
@require_GET
def policies(request: HttpRequest) -> HttpResponseBase:
    """List the scopes with settings that the person may see, also as CSV."""
    lake, user = current_lake(request), person(request)
    names = table_names(lake, user)
    chosen = ScopeFilter(request.GET, queryset=scopes_visible(lake, user, names))
    rows = filtered(chosen)
    if request.GET.get("format") == "csv":
        ordered = rows.order_by("scope", "pk").iterator(chunk_size=2_000)
        columns = [Column(key=key, title=key) for key in EXPORTS]
        return stream_csv(
            (ScopeRow.of(row, names) for row in ordered), columns, filename="policies.csv"
        )
    page = keyset_page(rows, request.GET, orders=SCOPE_ORDERS)
    counted = [ScopeRow.of(row, names) for row in page.rows]
    table = Table(COLUMNS, counted, "Policies of the lake", tuple(SCOPE_ORDERS), page.sort)
    context: dict[str, Any] = {
        "filter": chosen,
        "page": page,
        "table": table,
        "names": names,
        "names_at_most": NAMES_AT_MOST,
        "may_add": may_add(lake, user),
    }
    return render(request, "optimizer/policies.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def policy_new(request: HttpRequest) -> HttpResponseBase:
    """Ask for a scope, then for its settings."""
    lake, user = current_lake(request), person(request)
    if not may_add(lake, user):
        raise NotAllowed(
            "policy.role",
            "Only admins and administrators of a database set policies of more than one table. "
            "The policy of a table of yours is set on its page.",
        )
    form = NewForm(request.GET if "scope" in request.GET else None)
    if form.is_valid():
        scope = form.cleaned_data["scope"].strip().lower()
        try:
            policy_allowed(lake, scope, user)
        except (RuleViolation, NotAllowed, NotVisible) as error:
            form.add_error("scope", error.message)
        else:
            return _new(request, lake, scope, user)
    context: dict[str, Any] = {"form": form, "databases": user.administered.get(lake, [])}
    status = 400 if form.errors or request.method == "POST" else 200
    return render(request, "optimizer/policy_new.html", context, status=status)


@login_required
@require_http_methods(["GET", "POST"])
def policy_scope(request: HttpRequest, scope: str) -> HttpResponseBase:
    """Show one scope: its settings, form, history and the tables it fits; take its form in."""
    lake, user = current_lake(request), person(request)
    names = table_names(lake, user)
    scope = get_scope_for_user(lake, scope, user, names).scope
    return _table_url(lake, scope, user) or _page(request, lake, scope, user, names)


def _new(request: HttpRequest, lake: str, scope: str, user: User) -> HttpResponseBase:
    """Show the page of a scope that may have no settings yet."""
    if policy_current(lake, scope) is not None and request.method == "GET":
        return HttpResponseRedirect(scope_url(lake, scope))
    names = table_names(lake, user)
    return _table_url(lake, scope, user) or _page(request, lake, scope, user, names)


def _table_url(lake: str, scope: str, user: User) -> HttpResponseRedirect | None:
    """Lead to the tab of the table that a scope names, where there is one."""
    if kind_of_scope(scope) is not LevelKind.TABLE:
        return None
    table = table_of_scope(lake, scope, user)
    if table is None:
        return None
    return HttpResponseRedirect(reverse("optimizer:table-policy", args=[table.pk]))


def _page(
    request: HttpRequest, lake: str, scope: str, user: User, names: TableNames
) -> HttpResponseBase:
    said = policy_said(request, lake=lake, scope=scope, user=user)
    if said.is_kept:
        return HttpResponseRedirect(scope_url(lake, scope))
    under = list(names.under(scope))
    context: dict[str, Any] = {
        "said": said,
        "lake": lake,
        "form_url": request.get_full_path(),
        "kind_words": KIND_WORDS[kind_of_scope(scope)],
        "under": under[:TABLES_SHOWN],
        "n_under": len(under),
        "names": names,
        "names_at_most": NAMES_AT_MOST,
    }
    filterset = VersionFilter(request.GET, queryset=history_of(lake, scope))
    answer = list_response(request, HISTORY, filterset=filterset, context=context)
    answer.status_code = said.status
    return answer


def may_add(lake: str, user: User) -> bool:
    """Whether a person sets policies of more than single tables."""
    return user.is_lake_admin or bool(user.administered.get(lake))
