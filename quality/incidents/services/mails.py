"""Writes to people of incidents that came to them: one mail a person and run, with all of theirs.

Only to who may see the table. What is closed when the mail would be written is left out.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from urllib.parse import urlencode

from django.conf import settings
from django.db import transaction
from django.urls import reverse

from portal.access.lakes import get_lake
from portal.lake.clock import day_of
from portal.lake.lines import one_line
from portal.notices.letters import Letter, Row, letter_mail
from portal.notices.services import notice_queue, webhook_queue
from quality.incidents.services.people import recipients_of
from quality.models import Incident, IncidentEvent

MAIL = "quality.incidents"
_MOST = 500
_NAMED = 20
_PREFIX = "[Lakewarden] "


def incidents_tell(lake: str, *, now: datetime) -> int:
    """Write of each step that has to be mailed; returns how many people get a mail.

    Done twice at once each step is told by one of both.
    """
    due = IncidentEvent.objects.filter(lake=lake, mail_at__lte=now).order_by("mail_at", "pk")
    if not due.exists():
        return 0
    with transaction.atomic():
        mine = [one for one in due.select_related("incident")[:_MOST] if _taken(one)]
        told = {one.incident_id: one.incident for one in mine if one.incident.is_unclosed}
        if not told:
            return 0
        day = day_of(now, get_lake(lake).zone)
        # Of one kind one mail a day is written, and each step is told of.
        once = f"{MAIL}.{mine[0].pk}.{int(now.timestamp() * 1_000_000)}"
        found = _by_recipient(list(told.values()), mine)
        for (username, email), theirs in found.items():
            mail = letter_mail(_letter(lake, theirs), username=username)
            notice_queue(
                once, lake=lake, day=day, recipient=username, email=email, mail=mail, now=now
            )
        text = f"{_PREFIX}{_subject(list(told.values()))}: {_list_url(lake)}"
        webhook_queue(once, lake=lake, day=day, text=one_line(text), now=now)
    return len(found)


def _taken(event: IncidentEvent) -> bool:
    """Note that somebody writes of a step; False if another did."""
    rows = IncidentEvent.objects.filter(pk=event.pk).exclude(mail_at=None)
    return bool(rows.update(mail_at=None))


def _by_recipient(
    incidents: Sequence[Incident], events: Sequence[IncidentEvent]
) -> dict[tuple[str, str], list[Incident]]:
    actors: defaultdict[int, set[str]] = defaultdict(set)
    for event in events:
        actors[event.incident_id].add(event.actor)
    found: defaultdict[tuple[str, str], list[Incident]] = defaultdict(list)
    known: dict[tuple[str, str, str, str], dict[str, str]] = {}
    for one in sorted(incidents, key=lambda row: (row.severity != "block", row.opened_at)):
        key = (one.assignee, one.team, one.owner, one.db)
        if key not in known:
            known[key] = recipients_of(one)
        for username, email in known[key].items():
            if actors[one.pk] != {username}:  # not to who gave it to themselves
                found[username, email].append(one)
    return found


def _subject(rows: Sequence[Incident]) -> str:
    if len(rows) == 1:
        return one_line(f"Incident: {rows[0]}")
    n_tables = len({one.table_name for one in rows})
    tables = "1 table" if n_tables == 1 else f"{n_tables} tables"
    return one_line(f"{len(rows)} incidents of {tables}, {rows[0]} first")


def _letter(lake: str, rows: Sequence[Incident]) -> Letter:
    told = []
    for row in rows[:_NAMED]:
        path = reverse("readiness:incident", args=[row.pk])
        words = f"{row.severity}, assigned to {row.assigned_to}. {row.text}"
        told.append(Row(str(row), words, f"{settings.LAKEWARDEN_BASE_URL}{path}"))
    more = [Row(str(row)) for row in rows[_NAMED:]]
    return Letter(
        subject=_subject(rows),
        intro="These checks do not pass. Acknowledge an incident to say that you look at it:",
        rows=[*told, *more],
        n_shown=_NAMED,
        url=_list_url(lake),
        url_label="Your incidents",
    )


def _list_url(lake: str) -> str:
    query = urlencode({"lake": lake, "state": "UNCLOSED", "who": "mine"})
    return f"{settings.LAKEWARDEN_BASE_URL}{reverse('readiness:incidents')}?{query}"
