"""The tab of a table's policy: what holds and who says so, a form for its own, its history."""

from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from optimizer.iceberg.tables.selectors.tables import get_table_for_user
from optimizer.iceberg.tables.ui.table import frame_of
from optimizer.policies.selectors.scopes import VersionFilter, history_of, scope_of_table
from optimizer.policies.ui.actions import policy_submitted, settings_of
from optimizer.policies.ui.policies import HISTORY
from portal.lake.errors import RuleViolation
from portal.ui.frame.context import person
from portal.ui.lists.answers import list_response

NO_SCOPE = (
    "The table's name has signs that a scope cannot have, so it gets no policy of its own; set one "
    "for its database."
)
TAB = replace(HISTORY, template="optimizer/table_policy.html")


@require_http_methods(["GET", "POST"])
def policy(request: HttpRequest, table_id: int) -> HttpResponseBase:
    """Show every setting with the scope that says so; take the form of the table's own in."""
    user = person(request)
    table = get_table_for_user(table_id, user)
    scope = scope_of_table(table)
    if scope is None and request.method == "POST":
        raise RuleViolation("policy.scope", NO_SCOPE)
    submitted = (
        policy_submitted(request, lake=table.lake, scope=scope, user=user) if scope else None
    )
    if submitted is not None and submitted.is_kept:
        return HttpResponseRedirect(reverse("optimizer:table-policy", args=[table.pk]))
    shown: dict[str, Any] = {
        "submitted": submitted,
        "settings": settings_of(table),
        "no_scope": NO_SCOPE,
    }
    filterset = VersionFilter(request.GET, queryset=history_of(table.lake, str(table)))
    answer = list_response(request, TAB, filterset=filterset, context=frame_of(table, shown))
    answer.status_code = submitted.status if submitted is not None else 200
    return answer
