"""Notifies people that a front end's data diverges from the metastore's, and when it ends.

Admins and operators are, once a divergence: it lasts until a probe agrees again, however often a
refresh seemed to repair it meanwhile. Telling twice writes nothing new. A front end that flaps is
written of once a quiet interval (`LAKEWARDEN_DIVERGENCE_QUIET_MINUTES`), with how often it did.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.urls import reverse

from portal.access.lakes import get_lake
from portal.lake.clock import day_of
from portal.lake.lines import one_line
from portal.notices.letters import Letter, Row, letter_mail
from portal.notices.reached import notified_staff
from portal.notices.services import notice_queue, webhook_queue
from refresh.freshness.domain.freshness import Freshness
from refresh.models import Cluster, RefreshTarget, TargetFrontEnd, WatchedTable
from refresh.verify.domain.divergence_alarms import Alarm, News, next_alarm

DIVERGED, AGREES, FLAPS = "refresh.diverged", "refresh.agrees", "refresh.flaps"
_KINDS = {News.BEGAN: DIVERGED, News.ENDED: AGREES, News.FLAPPED: FLAPS}
# How many tables a sweep looks at whose mails were held back.
_HELD = 100


@dataclass(frozen=True, slots=True)
class _Told:
    """A front end of which a mail goes out, and what the mail before said."""

    row: TargetFrontEnd
    before: Alarm

    @property
    def is_diverged(self) -> bool:
        return self.row.divergence_began_at is not None


def divergences_tell(target: RefreshTarget, *, now: datetime) -> int:
    """Write of each front end that began, or ceased, to contradict; returns how many mails."""
    rows = TargetFrontEnd.objects.filter(target=target).select_related("fe").order_by("fe__name")
    if not any(_step(row, now=now)[0] != _alarm(row) for row in rows):
        return 0
    addresses = notified_staff(target.watched.lake)
    told: dict[News, list[_Told]] = {}
    with transaction.atomic():
        # Whoever writes at several front ends of a table locks the table first.
        WatchedTable.objects.select_for_update().filter(pk=target.watched_id).first()
        for row in rows.all():
            before = _alarm(row)
            after, news = _step(row, now=now)
            if after != before:
                _keep(row, after)
            if news is not News.NONE:
                told.setdefault(news, []).append(_Told(row, before))
        return sum(
            _write(news, target, told[news], addresses=addresses, now=now)
            for news in _KINDS
            if news in told
        )


def held_divergences_tell(cluster: Cluster, *, now: datetime) -> int:
    """Write of what was held back and is due, also where no probe came since; returns mails."""
    due = TargetFrontEnd.objects.filter(
        Q(n_divergences_held__gt=0)
        | Q(is_divergence_mailed=True, divergence_began_at=None)
        | Q(is_divergence_mailed=False, divergence_began_at__isnull=False),
        divergence_mailed_at__lte=now - _quiet(),
        target__cluster=cluster,
    ).order_by("divergence_mailed_at")
    keys = list(dict.fromkeys(due.values_list("target", flat=True)[:_HELD]))
    targets = RefreshTarget.objects.select_related("cluster", "watched").in_bulk(keys)
    return sum(divergences_tell(targets[key], now=now) for key in keys if key in targets)


# -- inside ----------------------------------------------------------------------------------


def _quiet() -> timedelta:
    return timedelta(minutes=settings.LAKEWARDEN_DIVERGENCE_QUIET_MINUTES)


def _alarm(row: TargetFrontEnd) -> Alarm:
    return Alarm(
        row.divergence_began_at,
        row.divergence_mailed_at,
        row.is_divergence_mailed,
        row.n_divergences_held,
    )


def _step(row: TargetFrontEnd, *, now: datetime) -> tuple[Alarm, News]:
    return next_alarm(_alarm(row), is_diverged=_is_diverged(row), now=now, quiet=_quiet())


def _is_diverged(row: TargetFrontEnd) -> bool | None:
    """Say what the last probe showed; None where no probe concluded since it diverged."""
    if row.freshness == Freshness.DIVERGED:
        return True
    began, diverged, probed = row.divergence_began_at, row.diverged_at, row.probed_at
    if began is None or probed is None or probed <= began:
        return None
    return False if diverged is None or diverged < probed else None


def _keep(row: TargetFrontEnd, alarm: Alarm) -> None:
    row.divergence_began_at = alarm.began_at
    row.divergence_mailed_at = alarm.mailed_at
    row.is_divergence_mailed = alarm.is_mailed
    row.n_divergences_held = alarm.n_held
    row.save(
        update_fields=[
            "divergence_began_at",
            "divergence_mailed_at",
            "is_divergence_mailed",
            "n_divergences_held",
        ]
    )


def _write(
    news: News,
    target: RefreshTarget,
    told: Sequence[_Told],
    *,
    addresses: dict[str, str],
    now: datetime,
) -> int:
    zone = get_lake(target.watched.lake).zone
    lake, day, kind = target.watched.lake, day_of(now, zone), _KINDS[news]
    # Of one kind one mail a day is written, and each divergence is told of.
    once = f"{kind}.{target.pk}.{int(now.timestamp() * 1_000_000)}"
    url = f"{settings.LAKEWARDEN_BASE_URL}{_table_path(target)}"
    subject = _subject(news, target, told)
    letter = Letter(
        subject=subject,
        intro=f"{subject}.",
        rows=[Row(one.row.fe.name, _words(news, one, zone=zone)) for one in told],
        after=(_AFTER[news],),
        url=url,
        url_label="The table on every front end",
    )
    for username, email in addresses.items():
        mail = letter_mail(letter, username=username)
        notice_queue(once, lake=lake, day=day, recipient=username, email=email, mail=mail, now=now)
    webhook_queue(once, lake=lake, day=day, text=f"{subject}: {url}", now=now)
    return len(addresses)


def _subject(news: News, target: RefreshTarget, told: Sequence[_Told]) -> str:
    one = len(told) == 1
    n_fes = f"{len(told)} front end{'' if one else 's'} of {target.cluster.name}"
    if news is News.BEGAN:
        return one_line(f"Alarm: {n_fes} may answer {target} wrongly")
    if news is News.ENDED:
        return one_line(f"Resolved: {n_fes} agree{'s' if one else ''} on {target} again")
    n_wrong = sum(row.is_diverged for row in told)
    if one:
        now, again = ("diverges now" if n_wrong else "agrees now"), "diverges"
    else:
        now, again = (f"{n_wrong} diverge now" if n_wrong else "all agree now"), "diverge"
    return one_line(f"Alarm: {n_fes} {again} again and again on {target}; {now}")


def _words(news: News, told: _Told, *, zone: ZoneInfo) -> str:
    reason = told.row.divergence_reason
    if news is not News.FLAPPED:
        return reason if news is News.BEGAN else ""
    n = told.before.n_held + (told.is_diverged and told.before.began_at is None)
    since = (
        f"{told.before.mailed_at.astimezone(zone):%Y-%m-%d %H:%M}" if told.before.mailed_at else ""
    )
    times = f"diverged {n} time{'' if n == 1 else 's'} since the mail of {since}"
    return f"{times}; {f'diverges now: {reason}' if told.is_diverged else 'agrees now'}"


_AFTER = {
    News.BEGAN: (
        "A probe compared what the front end knows with the metastore. The portal has the whole "
        "table refreshed by itself, once an hour at most. Until then queries on it may be "
        "answered from other data. Another mail is sent when a probe agrees again."
    ),
    News.ENDED: "A probe after the last refresh found what the metastore has.",
    News.FLAPPED: (
        "What repeats is written of once in a while, so that it does not fill a mailbox; the "
        "table's page shows it at once. A front end that diverges again after each refresh often "
        "misses changes that no event reports: see what writes the table, and the front end's log."
    ),
}


def _table_path(target: RefreshTarget) -> str:
    if target.watched.is_deleted:
        return reverse("refresh:table", args=[target.pk])
    path = reverse("ui:table-tab", args=[target.watched.db, target.watched.table, "cache"])
    return f"{path}?{urlencode({'lake': target.watched.lake, 'target': target.pk})}"
