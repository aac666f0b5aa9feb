"""Notifies people that a front end's data diverges from the metastore's, and when it ends.

Admins and operators are, once a divergence: it lasts until a probe agrees again, however often a
refresh seemed to repair it meanwhile. Telling twice writes nothing new.
"""

from collections.abc import Sequence
from datetime import datetime
from urllib.parse import urlencode

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.urls import reverse

from portal.access.lakes import get_lake
from portal.lake.clock import day_of
from portal.lake.lines import one_line
from portal.notices.letters import Letter, Row, letter_mail
from portal.notices.reached import notified_staff
from portal.notices.services import notice_queue, webhook_queue
from refresh.freshness.domain.freshness import Freshness
from refresh.models import RefreshTarget, TargetFrontEnd, WatchedTable

DIVERGED, AGREES = "refresh.diverged", "refresh.agrees"


def divergences_tell(target: RefreshTarget, *, now: datetime) -> int:
    """Write of each front end that began, or ceased, to contradict; returns how many mails."""
    rows = TargetFrontEnd.objects.filter(target=target).select_related("fe").order_by("fe__name")
    begun = rows.filter(freshness=Freshness.DIVERGED, divergence_notified_at=None)
    agreed = Q(diverged_at=None) | Q(diverged_at__lt=F("probed_at"))
    over = rows.filter(agreed, probed_at__gt=F("divergence_notified_at"))
    over = over.exclude(freshness=Freshness.DIVERGED)
    if not (begun or over):
        return 0
    addresses = notified_staff()
    with transaction.atomic():
        # Whoever writes at several front ends of a table locks the table first.
        WatchedTable.objects.select_for_update().filter(pk=target.watched_id).first()
        began = [row for row in begun if _mark(row, notified_at=now)]
        ended = [row for row in over if _mark(row, notified_at=None)]
        n_mails = _write(DIVERGED, target, began, addresses=addresses, now=now)
        return n_mails + _write(AGREES, target, ended, addresses=addresses, now=now)


def _mark(row: TargetFrontEnd, *, notified_at: datetime | None) -> bool:
    """Note that somebody writes of it; False if another did."""
    mine = TargetFrontEnd.objects.filter(
        pk=row.pk, divergence_notified_at=row.divergence_notified_at
    )
    return bool(mine.update(divergence_notified_at=notified_at))


def _write(
    kind: str,
    target: RefreshTarget,
    rows: Sequence[TargetFrontEnd],
    *,
    addresses: dict[str, str],
    now: datetime,
) -> int:
    if not rows:
        return 0
    lake = target.watched.lake
    day = day_of(now, get_lake(lake).zone)
    # Of one kind one mail a day is written, and each divergence is told of.
    once = f"{kind}.{target.pk}.{int(now.timestamp() * 1_000_000)}"
    url = f"{settings.LAKEWARDEN_BASE_URL}{_table_path(target)}"
    subject = _subject(kind, target, rows)
    for username, email in addresses.items():
        mail = letter_mail(_letter(kind, subject, rows, url=url), username=username)
        notice_queue(once, lake=lake, day=day, recipient=username, email=email, mail=mail, now=now)
    webhook_queue(once, lake=lake, day=day, text=f"{subject}: {url}", now=now)
    return len(addresses)


def _subject(kind: str, target: RefreshTarget, rows: Sequence[TargetFrontEnd]) -> str:
    n_fes = f"{len(rows)} front end{'s' if len(rows) != 1 else ''} of {target.cluster.name}"
    if kind == DIVERGED:
        return one_line(f"Alarm: {n_fes} may answer {target} wrongly")
    return one_line(f"Resolved: {n_fes} agree{'s' if len(rows) == 1 else ''} on {target} again")


def _letter(kind: str, subject: str, rows: Sequence[TargetFrontEnd], *, url: str) -> Letter:
    is_diverged = kind == DIVERGED
    after = (
        "A probe compared what the front end knows with the metastore. The portal has the whole "
        "table refreshed by itself, once an hour at most. Until then queries on it may be "
        "answered from other data. Another mail is sent when a probe agrees again."
        if is_diverged
        else "A probe after the last refresh found what the metastore has."
    )
    return Letter(
        subject=subject,
        intro=f"{subject}.",
        rows=[Row(row.fe.name, row.divergence_reason if is_diverged else "") for row in rows],
        after=(after,),
        url=url,
        url_label="The table on every front end",
    )


def _table_path(target: RefreshTarget) -> str:
    if target.watched.is_deleted:
        return reverse("refresh:table", args=[target.pk])
    path = reverse("ui:table-tab", args=[target.watched.db, target.watched.table, "cache"])
    return f"{path}?{urlencode({'lake': target.watched.lake, 'target': target.pk})}"
