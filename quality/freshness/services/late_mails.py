"""Notifies people of partitions that are not ready in time.

Admins and operators of all of them, owners of theirs, once each, in one mail of a look. What comes
later stands on the page. Telling twice writes nothing new.
"""

from collections.abc import Sequence
from datetime import datetime
from urllib.parse import urlencode

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from portal.access.lakes import get_lake
from portal.lake.clock import day_of
from portal.lake.lines import one_line
from portal.notices.letters import Letter, Row, letter_mail
from portal.notices.reached import notified_staff, people_reached
from portal.notices.services import notice_queue, webhook_queue
from quality.freshness.selectors.expected import late_unsaid
from quality.models import ExpectedPartition, FreshnessStatus

LATE = "readiness.late"
_MOST = 500
_NAMED = 20
_PREFIX = "[Lakewarden] "


def late_tell(lake: str, *, now: datetime) -> int:
    """Write of what is late and nobody was told of; returns how many partitions were told."""
    late = late_unsaid(lake, now=now).select_related("rule").order_by("due_at", "pk")
    rows = list(late[:_MOST])
    if not rows:
        return 0
    keepers = notified_staff(lake)
    owners = people_reached(row.rule.owner for row in rows)
    with transaction.atomic():
        mine = [row for row in rows if _mark(row, now=now)]
        if not mine:
            return 0
        # Of one kind one mail a day is written, and each that is late is told of.
        once = f"{LATE}.{mine[0].pk}.{int(now.timestamp() * 1_000_000)}"
        day = day_of(now, get_lake(lake).zone)
        for username, email in {**owners, **keepers}.items():
            every = username in keepers
            told = mine if every else [row for row in mine if row.rule.owner == username]
            if told:
                mail = letter_mail(_letter(lake, told), username=username)
                notice_queue(
                    once, lake=lake, day=day, recipient=username, email=email, mail=mail, now=now
                )
        webhook_queue(once, lake=lake, day=day, text=f"{_subject(mine)}: {_url(lake)}", now=now)
    return len(mine)


def _mark(row: ExpectedPartition, *, now: datetime) -> bool:
    """Note that somebody writes of it; False if another did, or it came meanwhile."""
    mine = ExpectedPartition.objects.filter(pk=row.pk, notified_at=None).exclude(
        standing=FreshnessStatus.READY
    )
    return bool(mine.update(notified_at=now))


def _subject(rows: Sequence[ExpectedPartition]) -> str:
    n_tables = len({row.rule_id for row in rows})
    first = f"{rows[0].spec} of {rows[0].rule}"
    if len(rows) == 1:
        return one_line(f"[Lakewarden] Late: {first} is not ready")
    return one_line(
        f"[Lakewarden] Late: {len(rows)} partitions of {n_tables} tables, {first} first"
    )


def _url(lake: str) -> str:
    query = urlencode({"lake": lake, "late": "now"})
    return f"{settings.LAKEWARDEN_BASE_URL}{reverse('readiness:awaited')}?{query}"


def _letter(lake: str, rows: Sequence[ExpectedPartition]) -> Letter:
    zone = get_lake(lake).zone
    told = []
    for row in rows:
        due = timezone.localtime(row.due_at, zone)
        told.append(Row(f"{row.rule}, {row.spec}", f"due {due:%Y-%m-%d %H:%M %Z}. {row.reason}"))
    return Letter(
        subject=_subject(rows).removeprefix(_PREFIX),
        intro="Not ready in time:",
        rows=told,
        n_shown=_NAMED,
        url=_url(lake),
        url_label="What is late now",
    )
