"""Home cards of the platform's own pages, and the badges of its menu entries."""

from datetime import timedelta
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from portal.access.registry import Card
from portal.approvals.waiting import n_needs_me
from portal.lake.errors import NotVisible
from portal.runs.domain import RunState
from portal.runs.kinds.registry import get_kind
from portal.ui.frame.context import lake_or_none, person
from portal.ui.selectors import failed_runs_of

LOOK_BACK = timedelta(days=7)


def failed_runs_card(request: HttpRequest) -> Card | None:
    """Tell a person that runs they asked for failed in the last week."""
    user = person(request)
    lake = lake_or_none(request)
    if lake is None:
        return None
    newest = failed_runs_of(user, lake, since=timezone.now() - LOOK_BACK).first()
    if newest is None:
        return None
    n_failed = n_failed_runs(request)
    query = urlencode({"state": RunState.FAILED.value, "requested_by": user.username})
    address = f"{reverse('ui:runs')}?{query}"
    return Card(
        kind="waiting",
        title="Your run failed" if n_failed == 1 else "Your runs failed",
        value=f"{n_failed:,}",
        url=reverse("ui:run", args=[newest.pk]) if n_failed == 1 else address,
        detail=f"{_title(newest.kind)}: {(newest.error or {}).get('message', newest.message)}",
        icon="alert-circle",
        tone="bad",
        order=90,
    )


def n_failed_runs(request: HttpRequest) -> int:
    """Return how many runs the card of failed runs counts."""
    lake = lake_or_none(request)
    if lake is None:
        return 0
    return failed_runs_of(person(request), lake, since=timezone.now() - LOOK_BACK).count()


def n_approvals(request: HttpRequest) -> int:
    """Return how many approvals wait for the person."""
    lake = lake_or_none(request)
    return n_needs_me(person(request), lake, now=timezone.now()) if lake else 0


def _title(kind: str) -> str:
    try:
        return get_kind(kind).title
    except NotVisible:
        return kind
