"""Posts steps of incidents to a program, at the address that the settings name.

Many steps go in one body. A body holds no value of the lake: what failed is read on the incident's
page, by who may see the table. A step may come twice; its `id` tells.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import F, QuerySet
from django.urls import reverse

from portal.lake.errors import PortalError
from portal.notices.callbacks import callback_again, callback_post, callback_target
from portal.notices.webhook import Resolver, resolve
from portal.servers.secret_files import secret_or_file
from quality.models import IncidentEvent

MOST_AT_ONCE = 100
_SENDING = timedelta(minutes=5)
"""Who claims steps has so long to send them; then another does."""


def has_hook() -> bool:
    """Whether the settings name a program that steps are posted to."""
    return bool(
        settings.LAKEWARDEN_INCIDENT_WEBHOOK_URL or settings.LAKEWARDEN_INCIDENT_WEBHOOK_URL_FILE
    )


def incidents_post(lake: str, *, now: datetime, resolver: Resolver = resolve) -> int:
    """Post what is due; returns how many steps were taken. Failures are tried again, eight times.

    Where the settings name no address any more, nothing is kept waiting.
    """
    waiting = IncidentEvent.objects.filter(lake=lake, hook_at__lte=now)
    if not waiting.exists():
        return 0
    if not has_hook():
        waiting.update(hook_at=None)
        return 0
    events = _claimed(waiting, now=now)
    if not events:  # another claimed them
        return 0
    rows = IncidentEvent.objects.filter(pk__in=[one.pk for one in events])
    body = {"lake": lake, "events": [_body(one) for one in events]}
    try:
        url = secret_or_file(
            settings.LAKEWARDEN_INCIDENT_WEBHOOK_URL,
            settings.LAKEWARDEN_INCIDENT_WEBHOOK_URL_FILE,
            setting="LAKEWARDEN_INCIDENT_WEBHOOK_URL_FILE",
        )
        target = callback_target(url, name="LAKEWARDEN_INCIDENT_WEBHOOK_URL")
        callback_post(target, body, resolver=resolver)
    except PortalError as error:
        _put_off(events, error, now=now)
        return 0
    return rows.update(hook_at=None, hook_sent_at=now, hook_problem="")


def _claimed(waiting: QuerySet[IncidentEvent], *, now: datetime) -> Sequence[IncidentEvent]:
    rows = waiting.select_related("incident").order_by("hook_at", "pk")[:MOST_AT_ONCE]
    return [
        one
        for one in rows
        if IncidentEvent.objects.filter(pk=one.pk, hook_at=one.hook_at).update(
            hook_at=now + _SENDING, hook_tries=F("hook_tries") + 1
        )
    ]


def _put_off(events: Sequence[IncidentEvent], error: PortalError, *, now: datetime) -> None:
    for n_tries in {one.hook_tries + 1 for one in events}:
        ids = [one.pk for one in events if one.hook_tries + 1 == n_tries]
        again = callback_again(error, n_tries=n_tries, now=now)
        IncidentEvent.objects.filter(pk__in=ids).update(hook_at=again, hook_problem=error.message)


def _body(event: IncidentEvent) -> dict[str, Any]:
    row = event.incident
    path = reverse("readiness:incident", args=[row.pk])
    return {
        "id": event.pk,
        "at": event.at.isoformat(),
        "action": event.action,
        "by": event.actor,
        "incident": row.pk,
        "state": row.state,
        "severity": row.severity,
        "table": row.table_name,
        "rule": row.rule_words,
        "assignee": row.assignee,
        "team": row.team,
        "windows": row.n_windows,
        "opened_at": row.opened_at.isoformat(),
        "url": f"{settings.LAKEWARDEN_BASE_URL}{path}",
    }
