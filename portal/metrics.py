"""Metrics of the portal for a Prometheus server.

Only grouped counts over indexed columns and newest times; nothing names a table or a person.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from django.db.models import Count, Max, Min
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from portal.access.gauges import Sample, all_gauges
from portal.access.lakes import all_lakes
from portal.access.models import User
from portal.access.scopes import METRICS_SCOPE
from portal.access.this_host import is_from_this_host
from portal.approvals.models import Approval
from portal.audit.anchors import newest_anchor
from portal.audit.models import AuditHead
from portal.events.selectors import alarms_open, follower_state
from portal.notices.models import Notice
from portal.people.models import ApiToken
from portal.runs.domain import ACTIVE, RunState
from portal.runs.models import Lease, Outbox, Run
from portal.safety.selectors import emergency_stop_state


class MayMonitor(BasePermission):
    """A program on this host, an API token of the scope, an admin or an operator."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Whether the numbers are shown; the token's scope was looked at before."""
        by_token = isinstance(request.auth, ApiToken)
        is_keeper = isinstance(request.user, User) and request.user.is_lake_staff
        return by_token or is_keeper or is_from_this_host(request._request)


class _AsText(BaseContentNegotiation):
    """Prometheus' form is the only one, whatever the reader prefers."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        return next(iter(parsers), None)

    def select_renderer(self, request: Request, renderers: Any, format_suffix: Any = None) -> Any:
        return renderers[0], renderers[0].media_type


class Metrics(APIView):
    """The gauges in Prometheus' text form."""

    token_scope = METRICS_SCOPE
    permission_classes = [MayMonitor]
    content_negotiation_class = _AsText

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponse:
        """Return the gauges."""
        lines = [line for family in _families() for line in _text(*family)]
        return HttpResponse(
            "\n".join(lines) + "\n", content_type="text/plain; version=0.0.4; charset=utf-8"
        )


def _families() -> Iterator[tuple[str, str, Iterable[Sample]]]:
    yield "runs", "Unfinished runs by queue and state.", _active_runs()
    yield "runs_oldest_queued_seconds", "Age of the oldest queued run.", _oldest_queued()
    yield "run_last_done_seconds", "Seconds since the last good run of a kind.", _last_done()
    yield "outbox_waiting", "Messages not published yet.", [({}, _outbox())]
    yield "approvals_pending", "Approvals waiting for people.", _grouped_approvals()
    yield "notices", "Mails by state.", _grouped_notices()
    yield "red_button", "1 while nothing may act on the lake.", _emergency_stops()
    yield "lease_left_seconds", "Time until a leader's lease ends.", _leases()
    yield "audit_events", "Length of the audit chain.", [({}, _audit_length())]
    yield "audit_anchor_age_seconds", "Time since the audit head was anchored.", _anchor_age()
    yield "events_behind", "Notifications not taken in at the last check.", _events_behind()
    yield "event_alarms", "Missed events that no scan has made good yet.", _event_alarms()
    for gauge in all_gauges():
        yield gauge.name, gauge.help_text, gauge.samples()


def _text(name: str, help_text: str, samples: Iterable[Sample]) -> Iterator[str]:
    full = f"lakewarden_{name}"
    yield f"# HELP {full} {help_text}"
    yield f"# TYPE {full} gauge"
    for labels, value in samples:
        inner = ",".join(f'{key}="{_escaped(label)}"' for key, label in labels.items())
        yield f"{full}{{{inner}}} {value:.15g}" if inner else f"{full} {value:.15g}"


def _escaped(label: str) -> str:
    return label.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _active_runs() -> Iterator[Sample]:
    rows = Run.objects.filter(state__in=ACTIVE).values("lake", "queue", "state")
    for row in rows.annotate(n=Count("id")).order_by():
        yield {key: row[key] for key in ("lake", "queue", "state")}, row["n"]


def _oldest_queued() -> Iterator[Sample]:
    oldest = Run.objects.filter(state=RunState.QUEUED).aggregate(at=Min("queued_at"))["at"]
    yield {}, (timezone.now() - oldest).total_seconds() if oldest else 0.0


def _last_done() -> Iterator[Sample]:
    rows = Run.objects.filter(state=RunState.DONE).values("lake", "kind")
    for row in rows.annotate(at=Max("finished_at")).order_by():
        if row["at"]:
            age = (timezone.now() - row["at"]).total_seconds()
            yield {"lake": row["lake"], "kind": row["kind"]}, age


def _outbox() -> float:
    return float(Outbox.objects.filter(published_at__isnull=True).count())


def _grouped_approvals() -> Iterator[Sample]:
    rows = Approval.objects.filter(state="PENDING").values("lake", "kind")
    for row in rows.annotate(n=Count("id")).order_by():
        yield {"lake": row["lake"], "kind": row["kind"]}, row["n"]


def _grouped_notices() -> Iterator[Sample]:
    for row in Notice.objects.values("lake", "state").annotate(n=Count("id")).order_by():
        yield {"lake": row["lake"], "state": row["state"]}, row["n"]


def _emergency_stops() -> Iterator[Sample]:
    for lake in sorted(all_lakes()):
        yield {"lake": lake}, 1.0 if emergency_stop_state(lake) else 0.0


def _leases() -> Iterator[Sample]:
    for lease in Lease.objects.all():
        yield {"name": lease.name}, (lease.until - timezone.now()).total_seconds()


def _events_behind() -> Iterator[Sample]:
    for lake in sorted(all_lakes()):
        place = follower_state(lake)
        if place is not None:
            yield {"lake": lake}, float(place.n_behind)


def _event_alarms() -> Iterator[Sample]:
    for lake in sorted(all_lakes()):
        yield {"lake": lake}, float(alarms_open(lake).count())


def _anchor_age() -> Iterator[Sample]:
    newest = newest_anchor()
    if newest is not None:
        yield {}, (timezone.now() - newest.taken_at).total_seconds()


def _audit_length() -> float:
    head = AuditHead.objects.first()
    return float(head.seq if head else 0)
