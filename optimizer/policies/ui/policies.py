"""The pages of policies: all scopes of a lake with settings, one scope, and a new one."""

from dataclasses import dataclass
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from optimizer.core.ui.columns import cell
from optimizer.policies.domain.formats import POLICY_SCHEMAS, TableFormat
from optimizer.policies.domain.policy import LevelKind, kind_of_scope
from optimizer.policies.selectors.policies import policy_current
from optimizer.policies.selectors.scopes import (
    HISTORY_ORDERS,
    KIND_WORDS,
    NAMES_AT_MOST,
    SCOPE_FILTERS,
    SCOPE_ORDERS,
    TABLES_SHOWN,
    ScopeRow,
    TableNames,
    VersionFilter,
    get_scope_for_user,
    history_of,
    scopes_visible,
    table_names,
    table_of_scope,
)
from optimizer.policies.services.policies import policy_allowed
from optimizer.policies.ui.actions import policy_submitted, scope_url
from portal.access.models import User
from portal.lake.errors import NotAllowed, NotVisible, RuleViolation
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.csv import stream_csv
from portal.ui.lists.filters import filtered
from portal.ui.lists.keyset import keyset_page
from portal.ui.lists.tables import Column, Table

HISTORY = ListSpec(
    template="optimizer/policy_scope.html",
    caption="Versions of the policy",
    columns=(
        Column(key="version", title="Version", kind="count", sort="version"),
        Column(key="at", title="When", kind="ago"),
        Column(key="by", title="Who"),
        Column(key="reason", title="Reason", is_wide=True),
        cell("What changed", "policy_changes", is_wide=True),
    ),
    orders=HISTORY_ORDERS,
    filename="policy-history.csv",
    exports=("lake", "scope", "version", "at", "by", "reason", "values", "before"),
)
COLUMNS = (
    Column(
        key="scope",
        title="Scope",
        kind="code",
        sort="scope",
        url=lambda row: scope_url(row.lake, row.scope, TableFormat(row.format)),
    ),
    Column(key="level", title="Level"),
    cell("What it sets", "policy_values", is_wide=True),
    Column(key="n_tables", title="Tables it fits", kind="count"),
    Column(key="by", title="Set by"),
    Column(key="at", title="When", kind="ago", sort="at"),
    Column(key="reason", title="Reason", is_wide=True),
)
EXPORTS = ("lake", "scope", "level", "version", "values", "n_tables", "by", "at", "reason")


@dataclass(frozen=True, slots=True)
class About:
    """Of which tables the policies of a page are, and under which names its pages stand."""

    table_format: TableFormat

    @property
    def title(self) -> str:
        """The format's name."""
        return POLICY_SCHEMAS[self.table_format].title

    @property
    def is_hudi(self) -> bool:
        """Whether they are of Hudi tables."""
        return self.table_format is TableFormat.HUDI

    @property
    def list(self) -> str:
        """The page of all scopes."""
        return "optimizer:hudi-policies" if self.is_hudi else "optimizer:policies"

    @property
    def new(self) -> str:
        """The page of a new one."""
        return "optimizer:hudi-policy-new" if self.is_hudi else "optimizer:policy-new"

    @property
    def table(self) -> str:
        """The page of a single table's policy."""
        return "optimizer:optimizer-hudi-policy" if self.is_hudi else "optimizer:table-policy"


class NewForm(forms.Form):
    """The scope of a policy that is to be set."""

    scope = forms.CharField(max_length=385, label="Scope")


@require_GET
def policies(
    request: HttpRequest, table_format: TableFormat = TableFormat.ICEBERG
) -> HttpResponseBase:
    """List the scopes with settings that the person may see, also as CSV."""
    lake, user = current_lake(request), person(request)
    names = table_names(lake, user, table_format)
    rows = scopes_visible(lake, user, names, table_format)
    chosen = SCOPE_FILTERS[table_format](request.GET, queryset=rows)
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
        "about": About(table_format),
    }
    return render(request, "optimizer/policies.html", context)


@require_http_methods(["GET", "POST"])
def policy_new(
    request: HttpRequest, table_format: TableFormat = TableFormat.ICEBERG
) -> HttpResponseBase:
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
            policy_allowed(lake, scope, user, table_format)
        except (RuleViolation, NotAllowed, NotVisible) as error:
            form.add_error("scope", error.message)
        else:
            return _new(request, lake, scope, user, table_format)
    context: dict[str, Any] = {
        "form": form,
        "databases": user.administered.get(lake, []),
        "about": About(table_format),
    }
    status = 400 if form.errors or request.method == "POST" else 200
    return render(request, "optimizer/policy_new.html", context, status=status)


@require_http_methods(["GET", "POST"])
def policy_scope(
    request: HttpRequest, scope: str, table_format: TableFormat = TableFormat.ICEBERG
) -> HttpResponseBase:
    """Show one scope: its settings, form, history and the tables it fits; take its form in."""
    lake, user = current_lake(request), person(request)
    names = table_names(lake, user, table_format)
    scope = get_scope_for_user(lake, scope, user, names, table_format).scope
    led = _table_url(lake, scope, user, table_format)
    return led or scope_page(request, lake, scope, names, table_format)


def _new(
    request: HttpRequest, lake: str, scope: str, user: User, table_format: TableFormat
) -> HttpResponseBase:
    """Show the page of a scope that may have no settings yet."""
    if policy_current(lake, scope, table_format) is not None and request.method == "GET":
        return HttpResponseRedirect(scope_url(lake, scope, table_format))
    names = table_names(lake, user, table_format)
    led = _table_url(lake, scope, user, table_format)
    return led or scope_page(request, lake, scope, names, table_format)


def _table_url(
    lake: str, scope: str, user: User, table_format: TableFormat
) -> HttpResponseRedirect | None:
    """Lead to the tab of the table that a scope names, where there is one."""
    if kind_of_scope(scope) is not LevelKind.TABLE:
        return None
    table = table_of_scope(lake, scope, user, table_format)
    if table is None or (table.is_deleted and table_format is TableFormat.HUDI):
        return None
    return HttpResponseRedirect(reverse(About(table_format).table, args=[table.pk]))


def scope_page(
    request: HttpRequest,
    lake: str,
    scope: str,
    names: TableNames,
    table_format: TableFormat,
    **of_table: Any,
) -> HttpResponseBase:
    """Show a scope's page; of a single table with what holds for it."""
    user = person(request)
    submitted = policy_submitted(
        request, lake=lake, scope=scope, user=user, table_format=table_format
    )
    if submitted.is_kept:
        return HttpResponseRedirect(of_table.get("back") or scope_url(lake, scope, table_format))
    under = list(names.under(scope))
    context: dict[str, Any] = {
        "submitted": submitted,
        "lake": lake,
        "form_url": request.get_full_path(),
        "kind_words": KIND_WORDS[kind_of_scope(scope)],
        "under": under[:TABLES_SHOWN],
        "n_under": len(under),
        "names": names,
        "names_at_most": NAMES_AT_MOST,
        "about": About(table_format),
        **of_table,
    }
    filterset = VersionFilter(request.GET, queryset=history_of(lake, scope, table_format))
    answer = list_response(request, HISTORY, filterset=filterset, context=context)
    answer.status_code = submitted.status
    return answer


def may_add(lake: str, user: User) -> bool:
    """Whether a person sets policies of more than single tables."""
    return user.is_lake_admin_of(lake) or bool(user.administered.get(lake))
