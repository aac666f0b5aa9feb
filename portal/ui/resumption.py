"""Lists what starts again when the emergency stop of a lake ends."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.db.models import Count
from django.urls import reverse

from portal.approvals.domain import ApprovalState
from portal.approvals.kinds import all_kinds as approval_kinds
from portal.approvals.models import Approval
from portal.runs.domain import RunState
from portal.runs.kinds.registry import all_kinds as run_kinds
from portal.runs.models import Run


@dataclass(frozen=True, slots=True)
class Resumption:
    """Some work that waits for the end of the stop."""

    title: str
    n_waiting: int
    url: str = ""


def what_resumes(lake: str, *, now: datetime) -> list[Resumption]:
    """Return what waits for the end of the stop: queued runs and approved work."""
    return [*_queued(lake), *_approved(lake, now=now)]


def _queued(lake: str) -> Iterable[Resumption]:
    kinds = {kind.name: kind.title for kind in run_kinds() if kind.destroys}
    rows = Run.objects.filter(lake=lake, state=RunState.QUEUED, kind__in=kinds)
    for kind, n in rows.values_list("kind").annotate(n=Count("pk")).order_by("kind"):
        query = urlencode({"lake": lake, "kind": kind, "state": RunState.QUEUED.value})
        title = f"Queued runs: {kinds[kind]}"
        yield Resumption(title, n, f"{reverse('ui:runs')}?{query}")


def _approved(lake: str, *, now: datetime) -> Iterable[Resumption]:
    titles = {kind.name: kind.title for kind in approval_kinds()}
    rows = Approval.objects.filter(
        lake=lake, state=ApprovalState.APPROVED.value, expires_at__gt=now, kind__in=titles
    )
    for kind, n in rows.values_list("kind").annotate(n=Count("pk")).order_by("kind"):
        yield Resumption(f"Approved: {titles[kind]}", n)
