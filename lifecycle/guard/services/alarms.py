"""Queues policy alarm notifications, and lets permitted people close an alarm."""

from collections.abc import Collection
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.template.loader import render_to_string
from django.urls import reverse

from lifecycle.core.services.people import People
from lifecycle.models import PolicyEvent
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.audit.services import audit_record
from portal.lake.clock import day_of
from portal.lake.errors import NotAllowed, RuleViolation
from portal.lake.lines import one_line
from portal.lake.reasons import check_reason
from portal.notices.models import Notice
from portal.notices.services import Mail, notice_queue

KIND = "lifecycle.policy_alarm"


def alarm_mail_queue(alarm: PolicyEvent, *, now: datetime) -> int:
    """Write to every admin of the day's first alarm; later ones of that day stand on the page."""
    day = day_of(now, get_lake(alarm.lake).zone)
    if Notice.objects.filter(lake=alarm.lake, kind=KIND, day=day).exists():
        return 0
    people = People.of(alarm.lake)
    url = f"{settings.LAKEWARDEN_BASE_URL}{reverse('lifecycle:policy-alarms')}"
    for username in people.admins:
        context = {
            "username": username,
            "alarm": alarm,
            "url": f"{url}?lake={alarm.lake}&open=yes",
            "url_label": "Every open alarm",
            "subject": f"Policy alarm: {alarm}",
            "foot": "This mail comes once a day at most, with the first alarm of the day.",
        }
        notice_queue(
            KIND,
            lake=alarm.lake,
            day=day,
            recipient=username,
            email=people.addresses[username],
            mail=Mail(
                subject=one_line(f"[Lakewarden] Policy alarm: {alarm}"),
                text=render_to_string("lifecycle/mail/policy_alarm.txt", context),
                html=render_to_string("lifecycle/mail/policy_alarm.html", context),
            ),
            now=now,
        )
    return len(people.admins)


def policy_alarms_close(
    lake: str, ids: Collection[int], *, reason: str, user: User, now: datetime
) -> int:
    """Close open alarms, with the reason in the audit record; returns how many were open.

    Called twice, the second call closes none.

    Raises:
        NotAllowed: `alarm.role` for anyone but an admin.
        RuleViolation: `alarm.nothing` where none is chosen, `alarm.reason` without a reason.
    """
    if not user.is_lake_admin_of(lake):
        raise NotAllowed("alarm.role", "Only an admin closes a policy alarm.")
    if not ids:
        raise RuleViolation("alarm.nothing", "Choose the alarms to close: tick them in the list.")
    check_reason(reason, "alarm.reason", "Enter a reason; it is kept in the audit record.")
    with transaction.atomic():
        rows = PolicyEvent.objects.select_for_update().order_by("pk")
        closed = list(rows.filter(lake=lake, pk__in=ids, is_alarm=True, closed_at=None))
        PolicyEvent.objects.filter(pk__in=[row.pk for row in closed]).update(
            closed_by=user.username, closed_at=now, closed_reason=reason.strip()
        )
        if closed:
            audit_record(
                "policy.alarms_closed",
                actor=user.username,
                lake=lake,
                object_type="policy_alarm",
                object_id=str(closed[0].pk),
                data={
                    "alarms": [{"event": row.event_id, "name": str(row)} for row in closed],
                    "reason": reason.strip(),
                },
                now=now,
            )
    return len(closed)
