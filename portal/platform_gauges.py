"""Gauges of the platform: runs, messages, approvals, notices, followers, the audit record.

Only grouped counts over indexed columns and newest times. The number of queries is the same for any
number of lakes.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import Count, F, Max, Min, QuerySet
from django.db.models.fields.json import KT
from django.utils import timezone

from portal.access.gauges import Gauge, Sample
from portal.access.lakes import all_lakes
from portal.approvals.models import Approval
from portal.audit.anchors import anchored_at
from portal.audit.models import AuditHead
from portal.events.models import EventAlarm, EventPosition
from portal.notices.models import Notice
from portal.runs.domain import ACTIVE, FINAL, RunState
from portal.runs.models import Lease, Outbox, Run
from portal.safety.models import EmergencyStop

HOUR = timedelta(hours=1)
_QUEUED_SINCE = timedelta(days=2)
"""How far back the runs of the last hour are looked for, by the index on when they were queued."""


def platform_gauges() -> list[Gauge]:
    """Return the gauges of the platform, in the order in which they are shown."""
    return [
        Gauge(
            "runs",
            "Unfinished runs by queue and state.",
            _active_runs,
            labels=("lake", "queue", "state"),
        ),
        Gauge("runs_oldest_queued_seconds", "Age of the oldest queued run.", _oldest_queued),
        Gauge(
            "run_last_done_seconds",
            "Seconds since the last good run of a kind.",
            _last_done,
            labels=("lake", "kind"),
        ),
        Gauge(
            "runs_ended_last_hour",
            "Runs that ended in an hour, by kind and state.",
            _ended,
            labels=("lake", "kind", "state"),
        ),
        Gauge(
            "run_longest_seconds_last_hour",
            "From claim to end, of the longest run of a kind that ended in an hour.",
            _longest,
            labels=("lake", "kind"),
        ),
        Gauge(
            "runs_failed_last_hour",
            "Runs that failed in an hour, by the code of their error.",
            _failed,
            labels=("lake", "kind", "code"),
        ),
        Gauge("outbox_waiting", "Messages not published yet.", _outbox_waiting),
        Gauge(
            "outbox_oldest_seconds",
            "How long the oldest message is due that is not published.",
            _outbox_oldest,
        ),
        Gauge(
            "approvals_pending",
            "Approvals waiting for people.",
            _approvals,
            labels=("lake", "kind"),
        ),
        Gauge(
            "approvals_oldest_seconds",
            "Age of the oldest approval that waits for people.",
            _oldest_approvals,
            labels=("lake", "kind"),
        ),
        Gauge("notices", "Mails by state.", _notices, labels=("lake", "state")),
        Gauge("red_button", "1 while nothing may act on the lake.", _stops, labels=("lake",)),
        Gauge("lease_left_seconds", "Time until a leader's lease ends.", _leases, labels=("name",)),
        Gauge("audit_events", "Length of the audit chain.", _audit_length),
        Gauge("audit_anchor_age_seconds", "Time since the audit head was anchored.", _anchor_age),
        Gauge(
            "events_behind",
            "Notifications not taken in at the last check.",
            _events_behind,
            labels=("lake",),
        ),
        Gauge(
            "events_checked_age_seconds",
            "Time since the lake's metastore last answered the follower.",
            _checked_ages,
            labels=("lake",),
        ),
        Gauge(
            "event_alarms",
            "Missed events that no scan has made good yet.",
            _event_alarms,
            labels=("lake",),
        ),
    ]


def _age(at: datetime) -> float:
    return (timezone.now() - at).total_seconds()


def _active_runs() -> Iterator[Sample]:
    rows = Run.objects.filter(state__in=ACTIVE).values("lake", "queue", "state")
    for row in rows.annotate(n=Count("id")).order_by():
        yield {key: row[key] for key in ("lake", "queue", "state")}, row["n"]


def _oldest_queued() -> Iterator[Sample]:
    oldest = Run.objects.filter(state=RunState.QUEUED).aggregate(at=Min("queued_at"))["at"]
    yield {}, _age(oldest) if oldest else 0.0


def _last_done() -> Iterator[Sample]:
    rows = Run.objects.filter(state=RunState.DONE).values("lake", "kind")
    for row in rows.annotate(at=Max("finished_at")).order_by():
        if row["at"]:
            yield {"lake": row["lake"], "kind": row["kind"]}, _age(row["at"])


def _recent() -> QuerySet[Run]:
    now = timezone.now()
    return Run.objects.filter(
        lake__in=sorted(all_lakes()),
        queued_at__gte=now - _QUEUED_SINCE,
        finished_at__gte=now - HOUR,
        state__in=FINAL,
    ).order_by()


def _ended() -> Iterator[Sample]:
    for row in _recent().values("lake", "kind", "state").annotate(n=Count("id")):
        yield {key: row[key] for key in ("lake", "kind", "state")}, row["n"]


def _longest() -> Iterator[Sample]:
    rows = _recent().filter(claimed_at__isnull=False).values("lake", "kind")
    for row in rows.annotate(took=Max(F("finished_at") - F("claimed_at"))):
        yield {"lake": row["lake"], "kind": row["kind"]}, row["took"].total_seconds()


def _failed() -> Iterator[Sample]:
    rows = _recent().filter(state=RunState.FAILED).annotate(code=KT("error__code"))
    for row in rows.values("lake", "kind", "code").annotate(n=Count("id")):
        code = row["code"] or "none"
        yield {"lake": row["lake"], "kind": row["kind"], "code": code}, row["n"]


def _outbox_waiting() -> Iterator[Sample]:
    yield {}, float(Outbox.objects.filter(published_at__isnull=True).count())


def _outbox_oldest() -> Iterator[Sample]:
    due = Outbox.objects.filter(published_at__isnull=True, not_before__lte=timezone.now())
    oldest = due.aggregate(at=Min("not_before"))["at"]
    yield {}, _age(oldest) if oldest else 0.0


def _approvals() -> Iterator[Sample]:
    rows = Approval.objects.filter(state="PENDING").values("lake", "kind")
    for row in rows.annotate(n=Count("id")).order_by():
        yield {"lake": row["lake"], "kind": row["kind"]}, row["n"]


def _oldest_approvals() -> Iterator[Sample]:
    rows = Approval.objects.filter(state="PENDING").values("lake", "kind")
    for row in rows.annotate(at=Min("created_at")).order_by():
        yield {"lake": row["lake"], "kind": row["kind"]}, _age(row["at"])


def _notices() -> Iterator[Sample]:
    for row in Notice.objects.values("lake", "state").annotate(n=Count("id")).order_by():
        yield {"lake": row["lake"], "state": row["state"]}, row["n"]


def _stops() -> Iterator[Sample]:
    pressed = EmergencyStop.objects.filter(released_at__isnull=True)
    stopped = set(pressed.values_list("lake", flat=True))
    for lake in sorted(all_lakes()):
        yield {"lake": lake}, float(lake in stopped)


def _leases() -> Iterator[Sample]:
    for lease in Lease.objects.all():
        yield {"name": lease.name}, -_age(lease.until)


def _audit_length() -> Iterator[Sample]:
    head = AuditHead.objects.first()
    yield {}, float(head.seq if head else 0)


def _anchor_age() -> Iterator[Sample]:
    at = anchored_at()
    if at is not None:
        yield {}, _age(at)


def _places() -> QuerySet[EventPosition]:
    return EventPosition.objects.filter(lake__in=sorted(all_lakes())).order_by("lake")


def _events_behind() -> Iterator[Sample]:
    for place in _places():
        yield {"lake": place.lake}, float(place.n_behind)


def _checked_ages() -> Iterator[Sample]:
    for place in _places():
        yield {"lake": place.lake}, _age(place.checked_at)


def _event_alarms() -> Iterator[Sample]:
    rows = EventAlarm.objects.filter(rescanned_at=None).order_by()
    found = dict(rows.values_list("lake").annotate(n=Count("id")))
    for lake in sorted(all_lakes()):
        yield {"lake": lake}, float(found.get(lake, 0))
