"""The page of path-rule exceptions.

What counts as conforming although it is not, why, until when.
"""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from lifecycle.inventory.selectors.findings import paths_visible
from lifecycle.models import PathException
from lifecycle.policies.domain.exceptions import MOST_DAYS
from lifecycle.policies.selectors.exception_lists import (
    EXCEPTION_ORDERS,
    PathRuleExceptionFilter,
    exceptions_visible,
)
from lifecycle.policies.services.exceptions import exception_end
from lifecycle.policies.ui.forms import PathRuleExceptionForm
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.lake.clock import day_of
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.tables import Column

# The filter above knows a database too.
FORM_IDS = "ask-%s"


def _url(row: PathException) -> str:
    return reverse("lifecycle:policy-request", args=[row.request_id])


EXCEPTIONS = ListSpec(
    template="lifecycle/exceptions.html",
    caption="Path rule exceptions",
    columns=(
        Column(key="name", title="Of", kind="code", url=_url),
        Column(key="rule", title="Rule", kind="code"),
        Column(
            key="until",
            title="Until",
            kind="template",
            template="lifecycle/_exception_until.html",
            sort="until",
        ),
        Column(key="justification", title="Reason"),
        Column(key="requested_by", title="Requested by"),
        Column(
            key="approved_by",
            title="Approved by",
            kind="template",
            template="lifecycle/_names.html",
        ),
        Column(key="granted_at", title="Since", kind="ago", sort="granted"),
    ),
    orders=EXCEPTION_ORDERS,
    filename="path-waivers.csv",
    exports=(
        "db", "table", "rule", "until", "justification", "requested_by", "approved_by",
        "granted_at",
        "ended_at", "ended_by", "end_reason",
    ),
)  # fmt: skip


@require_GET
def waivers(request: HttpRequest) -> HttpResponseBase:
    """List the exceptions that stand (or are over) on what the person sees, and offer to ask."""
    lake, user = current_lake(request), person(request)
    today = day_of(timezone.now(), get_lake(lake).zone)
    filterset = PathRuleExceptionFilter(
        request.GET, queryset=exceptions_visible(lake, user, today=today)
    )
    initial = {key: request.GET.get(key, "") for key in ("db", "table", "rule")}
    context = {
        "form": PathRuleExceptionForm(initial=initial, auto_id=FORM_IDS),
        "may_ask": _may_ask(lake, user),
        "most_days": MOST_DAYS,
    }
    return list_response(request, EXCEPTIONS, filterset=filterset, context=context)


@require_POST
def exception_end_view(request: HttpRequest, waiver_id: UUID) -> HttpResponseRedirect:
    """End an exception before its day."""
    lake, reason = current_lake(request), request.POST.get("reason", "")
    found = exception_end(lake, waiver_id, user=person(request), reason=reason, now=timezone.now())
    messages.success(request, "The exception has ended. The next scan evaluates its path again.")
    return HttpResponseRedirect(_url(found))


def _may_ask(lake: str, user: User) -> bool:
    """Whether to show the form: to admins, and to owners of something that breaks a rule."""
    if user.is_lake_staff_of(lake):
        return user.is_lake_admin_of(lake)
    return paths_visible(lake, user).exists()
