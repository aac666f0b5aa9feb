"""The pages of policy requests: the list, one request, and the steps people take."""

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from lifecycle.core.ui.links import database_policy_url, details_url, list_url, policy_url
from lifecycle.inventory.selectors.policy import hand_over_warning
from lifecycle.models import PolicyRequest
from lifecycle.policies.domain.states import RequestKind, RequestState
from lifecycle.policies.selectors.exception_lists import may_end_exception
from lifecycle.policies.selectors.requests import (
    REQUEST_ORDERS,
    RequestFilter,
    get_request_for_user,
    requests_visible,
)
from lifecycle.policies.services.exceptions import exception_request
from lifecycle.policies.services.extensions import extension_request
from lifecycle.policies.services.request_params import hand_over_request, policy_set_request
from lifecycle.policies.services.requests import REQUESTS
from lifecycle.policies.ui.forms import (
    DeletionRequestForm,
    ExtendForm,
    HandOverForm,
    PathRuleExceptionForm,
    SetForm,
)
from lifecycle.policies.ui.policy import LINE_WORDS
from portal.access.models import User
from portal.lake.errors import RuleViolation
from portal.ui.frame.addresses import back_or, own_address
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.tables import Column
from portal.ui.proposals import decide_page, proposal_context, reasoned_page


def request_url(row: PolicyRequest) -> str:
    """Return the page of a request."""
    return reverse("lifecycle:policy-request", args=[row.pk])


REQUEST_LIST = ListSpec(
    template="lifecycle/policy_requests.html",
    caption="Policy requests",
    columns=(
        Column(key="name", title="What", kind="code", url=request_url),
        Column(
            key="kind",
            title="Request",
            kind="template",
            template="lifecycle/_policy_params.html",
        ),
        Column(key="state", title="State", kind="state"),
        Column(key="requested_by", title="By"),
        Column(key="created_at", title="Requested", kind="ago", sort="created"),
        Column(key="reason", title="Reason"),
    ),
    orders=REQUEST_ORDERS,
    filename="policy-requests.csv",
    exports=(
        "kind", "db", "table", "partition", "state", "seen_level", "seen_ttl", "level", "ttl",
        "seen_owner", "owner", "rule", "days", "until", "reason", "requested_by", "created_at",
        "decided_by", "ended_at", "note",
    ),
)  # fmt: skip


@require_GET
def policy_requests(request: HttpRequest) -> HttpResponseBase:
    """List the requests that the person made, may answer, or that are about their tables."""
    rows = requests_visible(current_lake(request), person(request))
    filterset = RequestFilter(request.GET, queryset=rows)
    return list_response(request, REQUEST_LIST, filterset=filterset, context={})


@require_POST
def policy_request_new(request: HttpRequest) -> HttpResponse:
    """Take a request of any kind, from the page on which it was made.

    A wrong one is shown again.
    """
    kind = request.POST.get("kind", "")
    if kind not in _ASKERS:
        raise RuleViolation("policy.kind", f"{kind!r} is no kind of request.")
    form_class, ask = _ASKERS[kind]
    form = form_class(request.POST)
    if not form.is_valid():
        return _shown_again(request, form, kind)
    try:
        made = ask(form, current_lake(request), person(request), timezone.now())
    except RuleViolation as error:
        field = str(error.fields.get("field", ""))
        form.add_error(field if field in form.fields else None, error.message)
        return _shown_again(request, form, kind)
    messages.success(request, _told(made))
    return HttpResponseRedirect(back_or(request, request_url(made)))


@require_GET
def policy_request(request: HttpRequest, request_id: UUID) -> HttpResponse:
    """Show one request: what it asks, what it would do, who said what, what came of it."""
    user = person(request)
    found = get_request_for_user(request_id, user=user)
    context = {
        "found": found,
        **proposal_context(REQUESTS, found, user, decide="lifecycle:policy-request-decide"),
        "page_url": _page_url(found),
        "warning": _warning(found),
        "what_if": _what_if_rows(found),
        "may_end_exception": may_end_exception(found, user, now=timezone.now()),
    }
    return render(request, "lifecycle/policy_request.html", context)


policy_request_decide_view = decide_page(REQUESTS, request_url)
policy_request_withdraw_view = reasoned_page(
    REQUESTS.withdraw, request_url, done="The request is withdrawn."
)


def _shown_again(request: HttpRequest, form: DeletionRequestForm, kind: str) -> HttpResponse:
    """Show a request that cannot be taken as it is: every value as typed, and what is wrong."""
    back = back_or(request, own_address(request, request.headers.get("Referer", "")))
    context = {"form": form, "kind": kind, "back": back}
    return render(request, "lifecycle/policy_request_new.html", context, status=400)


def _set(form: Any, lake: str, user: User, now: datetime) -> PolicyRequest:
    return policy_set_request(lake, form.wish(), user=user, now=now)


def _extend(form: Any, lake: str, user: User, now: datetime) -> PolicyRequest:
    return extension_request(lake, form.wish(), user=user, now=now)


def _hand_over(form: Any, lake: str, user: User, now: datetime) -> PolicyRequest:
    return hand_over_request(lake, form.wish(), user=user, now=now)


def _waive(form: Any, lake: str, user: User, now: datetime) -> PolicyRequest:
    return exception_request(lake, form.wish(), user=user, now=now)


# Each asks with the request of its own form.
_ASKERS: dict[
    str, tuple[type[DeletionRequestForm], Callable[[Any, str, User, datetime], PolicyRequest]]
] = {
    RequestKind.SET: (SetForm, _set),
    RequestKind.EXTEND: (ExtendForm, _extend),
    RequestKind.HAND_OVER: (HandOverForm, _hand_over),
    RequestKind.WAIVE: (PathRuleExceptionForm, _waive),
}


def _told(made: PolicyRequest) -> str:
    if made.state == RequestState.DONE:
        return f"Kept: nothing of {made.name} goes before the end of {made.until}."
    if made.state == RequestState.RUNNING:
        return f"{made.name}: {made.wanted} is being written to the metastore."
    if made.kind == RequestKind.HAND_OVER:
        return f"Offered {made.name}: {made.owner} (or an admin in their place) has to accept it."
    return f"Requested for {made.name}: an admin has to approve."


def _page_url(found: PolicyRequest) -> str:
    if found.kind == RequestKind.WAIVE:
        query = {"db": found.db, "table": found.table, "state": "ALL"}
        return list_url("paths", found.lake, **query)
    if not found.table:
        return database_policy_url(found.lake, found.db)
    if found.partition:
        return details_url(found.lake, found.db, found.table, found.partition)
    return policy_url(found.lake, found.db, found.table)


def _warning(found: PolicyRequest) -> str:
    if found.kind != RequestKind.HAND_OVER or found.is_final:
        return ""
    return hand_over_warning(found.lake, found.db, found.table, found.owner)


def _what_if_rows(found: PolicyRequest) -> list[dict[str, object]]:
    """Return the numbers that were shown when the request was made."""
    before, after = found.what_if.get("before", {}), found.what_if.get("after", {})
    return [
        {"state": LINE_WORDS[name][0], "before": before.get(name, {}), "after": after[name]}
        for name in LINE_WORDS
        if name in after
        if after[name].get("n") or before.get(name, {}).get("n")
    ]
