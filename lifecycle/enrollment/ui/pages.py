"""The pages of enrollments: choose tables and values, see what would go, ask two, follow, undo."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from lifecycle.core.ui.links import list_url
from lifecycle.enrollment.selectors import (
    ENROLLMENT_ORDERS,
    FILTER_KEYS,
    ITEM_ORDERS,
    CandidateFilter,
    EnrollmentFilter,
    EnrollmentItemFilter,
    candidates,
    enrollments_visible,
    get_enrollment_for_user,
    items_visible,
    preview,
    result_counts,
)
from lifecycle.enrollment.services.enrollments import (
    ENROLLMENTS,
    EnrollmentParams,
    enrollment_request,
    enrollment_undo,
)
from lifecycle.inventory.selectors.findings import current_generation
from lifecycle.models import Enrollment
from lifecycle.policies.domain.policy import Values
from lifecycle.policies.ui.forms import ValuesForm
from lifecycle.policies.ui.policy import LINE_WORDS
from portal.lake.errors import NotAllowed, RuleViolation
from portal.ui.forms import whole_number
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.filters import filtered
from portal.ui.lists.keyset import keyset_page
from portal.ui.lists.tables import Column
from portal.ui.proposals import decide_page, proposal_context, reasoned_page

CANDIDATE_ORDERS = {"name": ("db", "table"), "-name": ("-db", "-table")}


def enrollment_url(row: Enrollment) -> str:
    """Return the page of an enrollment."""
    return reverse("lifecycle:enrolment", args=[row.pk])


ENROLLMENT_LIST = ListSpec(
    template="lifecycle/enrollments.html",
    caption="Enrollments",
    columns=(
        Column(key="title", title="Enrollment", url=enrollment_url, is_wide=True),
        Column(key="state", title="State", kind="state"),
        Column(key="n_tables", title="Tables", kind="count"),
        Column(key="wanted", title="Values"),
        Column(key="requested_by", title="Requested by"),
        Column(key="created_at", title="Requested", kind="ago", sort="created"),
    ),
    orders=ENROLLMENT_ORDERS,
    filename="enrolments.csv",
    exports=(
        "id", "state", "n_tables", "level", "ttl", "requested_by", "reason", "created_at", "digest",
        "ended_at", "note",
    ),
)  # fmt: skip
ITEMS = ListSpec(
    template="lifecycle/enrollment.html",
    caption="Tables of the enrollment",
    columns=(
        Column(
            key="__str__",
            title="Table",
            kind="template",
            template="lifecycle/_enrollment_name.html",
            sort="name",
        ),
        Column(key="owner", title="Owner"),
        Column(key="seen", title="Before"),
        Column(key="n_items", title="Items", kind="count"),
        Column(key="n_now", title="Would be due", kind="count"),
        Column(key="bytes_now", title="Size", kind="bytes", sort="size"),
        Column(key="n_soon", title="Soon", kind="count"),
        Column(key="n_unsure", title="May be due", kind="count", help="Files not read yet"),
        Column(key="state", title="Result", kind="state"),
        Column(key="note", title="Note"),
    ),
    orders=ITEM_ORDERS,
    filename="enrolment.csv",
    exports=(
        "db", "table", "owner", "seen_level", "seen_ttl", "n_items", "n_now", "bytes_now", "n_soon",
        "n_unsure", "state", "note",
    ),
)  # fmt: skip


@require_GET
def enrollments(request: HttpRequest) -> HttpResponseBase:
    """List the enrollments that the person may see."""
    lake, user = current_lake(request), person(request)
    filterset = EnrollmentFilter(request.GET, queryset=enrollments_visible(lake, user))
    context = {"may_make": user.is_lake_staff_of(lake)}
    return list_response(request, ENROLLMENT_LIST, filterset=filterset, context=context)


@require_http_methods(["GET", "POST"])
def enrollment_new(request: HttpRequest) -> HttpResponse:
    """Choose tables and values and see what would go (GET), then ask two people (POST)."""
    lake, user = current_lake(request), person(request)
    if not user.is_lake_staff_of(lake):
        raise NotAllowed("enrol.role", "Admins and operators ask for enrollments.")
    if request.method == "POST":
        made = enrollment_request(lake, _wish(request), user=user, now=timezone.now())
        messages.success(request, "Requested. Two other admins have to approve it.")
        return HttpResponseRedirect(enrollment_url(made))
    chosen = CandidateFilter(request.GET, queryset=candidates(lake, {}))
    form = ValuesForm(request.GET if "level" in request.GET else None, initial={"ttl": 60})
    wanted = form.values if form.is_valid() else None
    selection = {key: request.GET.get(key, "") for key in FILTER_KEYS}
    page = keyset_page(filtered(chosen), request.GET, orders=CANDIDATE_ORDERS)
    found = preview(lake, selection, wanted) if chosen.is_valid() else None
    context = {
        "page": page,
        "filter": chosen,
        "form": form,
        "wanted": wanted,
        "preview": found,
        "lines": _lines(found.outcome) if found else [],
        "selection": {key: value for key, value in selection.items() if value},
        "generation": current_generation(lake),
    }
    return render(request, "lifecycle/enrollment_new.html", context)


@require_GET
def enrollment(request: HttpRequest, enrolment_id: UUID) -> HttpResponseBase:
    """Show one enrollment with its tables and what became of each."""
    user = person(request)
    found = get_enrollment_for_user(enrolment_id, user=user)
    rows = items_visible(found, user).select_related("enrollment")
    filterset = EnrollmentItemFilter(request.GET, queryset=rows)
    context = {
        "found": found,
        **proposal_context(ENROLLMENTS, found, user, decide="lifecycle:enrolment-decide"),
        "counts": result_counts(found, user),
        "sees_all": user.is_lake_staff_of(found.lake),
        "lines": [
            {**found.what_if[name], "state": LINE_WORDS[name][0], "words": LINE_WORDS[name][1]}
            for name in LINE_WORDS
            if found.what_if.get(name, {}).get("n")
        ],
        "list_url": list_url("enrolments", found.lake),
    }
    return list_response(request, ITEMS, filterset=filterset, context=context)


enrollment_decide_view = decide_page(ENROLLMENTS, enrollment_url)
enrollment_withdraw_view = reasoned_page(
    ENROLLMENTS.withdraw, enrollment_url, done="The enrollment is withdrawn."
)
enrollment_undo_view = reasoned_page(
    enrollment_undo,
    enrollment_url,
    done="The earlier values are being restored, table by table.",
)


def _wish(request: HttpRequest) -> EnrollmentParams:
    form = ValuesForm(request.POST)
    if not form.is_valid():
        raise RuleViolation("policy.values", "LEVEL is 0 or 1, and TTL a number of days from 1.")
    count = whole_number(request.POST.get("n_tables", ""))
    return EnrollmentParams(
        selection={key: request.POST.get(key, "") for key in FILTER_KEYS},
        wanted=Values(form.values.level, form.values.ttl),
        n_tables=-1 if count is None else count,
        reason=request.POST.get("reason", ""),
    )


def _lines(outcome: Any) -> list[dict[str, Any]]:
    if outcome is None:
        return []
    return [
        {"amount": getattr(outcome, name), "state": state, "words": words}
        for name, (state, words) in LINE_WORDS.items()
        if getattr(outcome, name).n
    ]
