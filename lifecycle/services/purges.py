"""When is a backup's last chance said, and when may it be purged?

Purge is the only irreversible step. A batch goes only when a notice that named it was sent three
days before, and its own days are over; the job checks marker, manifest, holds and live locations.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.template.loader import render_to_string
from django.urls import reverse

from lifecycle.models import PurgeAnnouncement
from lifecycle.selectors.backups import batches_to_announce
from lifecycle.services.people import People
from portal.access.lakes import get_lake
from portal.act.models import BackupBatch, RedButton
from portal.act.selectors import purgeable_batches, red_button_state
from portal.lake.clock import day_of
from portal.notices.models import NoticeState
from portal.notices.services import Mail, notice_queue

PURGE_KIND = "lifecycle.purge"
NOTICE_KIND = "lifecycle.last_chance"
LAST_CHANCE = timedelta(days=3)
TABLES_SHOWN = 100
MAX_BATCHES = 1_000


def last_chance_queue(lake: str, *, now: datetime) -> int:
    """Tell each owner once of backups whose last three days have begun; gives how many mails."""
    people = People.of(lake)
    told: dict[str, list[BackupBatch]] = defaultdict(list)
    announced = PurgeAnnouncement.objects.filter(batch=OuterRef("pk")).exclude(
        notice__state=NoticeState.FAILED
    )
    new = batches_to_announce(lake, now=now, ahead=LAST_CHANCE).exclude(Exists(announced))
    for batch in new[:5_000]:
        for username in _told_about(batch, people):
            told[username].append(batch)
    for username, batches in sorted(told.items()):
        _queue(lake, username, batches, email=people.addresses[username], now=now)
    return len(told)


def _told_about(batch: BackupBatch, people: People) -> Sequence[str]:
    """Give whom a batch's notice goes to: its owner and administrators, else the admins."""
    wanted = [batch.table_owner, *people.administrators.get(batch.db, ())]
    known = [name for name in dict.fromkeys(wanted) if name in people.addresses]
    return known or people.admins


def _queue(
    lake: str, username: str, batches: Sequence[BackupBatch], *, email: str, now: datetime
) -> None:
    day = day_of(now, get_lake(lake).zone)
    mail = _mail(lake, username, batches)
    with transaction.atomic():
        notice = notice_queue(
            NOTICE_KIND, lake=lake, day=day, recipient=username, email=email, mail=mail, now=now
        )
        # A mail of the same day that said something else names only what it named.
        if notice.text == mail.text:
            PurgeAnnouncement.objects.bulk_create(
                [PurgeAnnouncement(batch=batch, notice=notice) for batch in batches],
                batch_size=500,
                ignore_conflicts=True,
            )


def _mail(lake: str, username: str, batches: Sequence[BackupBatch]) -> Mail:
    tables: dict[tuple[str, str, object], int] = defaultdict(int)
    for batch in batches:
        tables[f"{batch.db}.{batch.table}", str(batch.day), batch.purge_after] += batch.n_items
    rows = [
        {"name": name, "day": day, "purge_after": purge_after, "n_items": n_items}
        for (name, day, purge_after), n_items in sorted(tables.items(), key=str)
    ]
    context = {
        "username": username,
        "rows": rows[:TABLES_SHOWN],
        "n_more": max(len(rows) - TABLES_SHOWN, 0),
        "url": f"{settings.LAKEWARDEN_BASE_URL}{reverse('lifecycle:backups')}?lake={lake}",
    }
    noun = "table" if len(rows) == 1 else "tables"
    return Mail(
        subject=f"[Lakewarden] Last chance: the backups of {len(rows)} {noun} are purged soon",
        text=render_to_string("lifecycle/mail/last_chance.txt", context),
        html=render_to_string("lifecycle/mail/last_chance.html", context),
    )


def purge_due(lake: str, *, now: datetime) -> list[BackupBatch]:
    """Give at most `MAX_BATCHES` that may be purged now; none while the red button is on.

    The clock of a backup stops while it cannot be restored: its days are longer by every hour that
    the red button was on since the drop.
    """
    if red_button_state(lake) is not None:
        return []
    last_day = day_of(now - LAST_CHANCE, get_lake(lake).zone)
    told = PurgeAnnouncement.objects.filter(
        batch=OuterRef("pk"), notice__state=NoticeState.SENT, notice__sent_on__lte=last_day
    )
    due = purgeable_batches(lake, now=now).filter(Exists(told))[:MAX_BATCHES]
    presses = list(RedButton.objects.filter(lake=lake, released_at__isnull=False))
    return [
        batch
        for batch in due
        if batch.purge_after is not None
        and batch.purge_after + _paused(presses, since=batch.dropped_at) <= now
    ]


def _paused(presses: Sequence[RedButton], *, since: datetime) -> timedelta:
    """Give for how long the red button was on since an instant."""
    paused = timedelta(0)
    for press in presses:
        if press.released_at is not None and press.released_at > since:
            paused += press.released_at - max(press.pressed_at, since)
    return paused
