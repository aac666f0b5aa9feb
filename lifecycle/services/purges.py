"""When is a backup's last chance said, and when may it be purged?

Purge is the only irreversible step. A batch goes only when a notice that named it was sent three
days before, and its own days are over; the job checks marker, manifest, holds and live locations.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from lifecycle.models import PurgeAnnouncement
from lifecycle.selectors.backups import batches_to_announce
from lifecycle.services.backup_mail import backup_mail
from lifecycle.services.people import People
from portal.access.lakes import get_lake
from portal.act.models import BackupBatch
from portal.act.selectors import WITHOUT_DATA, purgeable_batches, red_button_state
from portal.lake.clock import day_of
from portal.notices.models import NoticeState
from portal.notices.services import Mail, notice_queue

PURGE_KIND = "lifecycle.purge"
NOTICE_KIND = "lifecycle.last_chance"
LAST_CHANCE = timedelta(days=3)
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
    wanted = people.behind(batch.table_owner, *people.administrators.get(batch.db, ()))
    known = [name for name in wanted if name in people.addresses]
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
    noun = "table" if len(rows) == 1 else "tables"
    subject = f"Last chance: the backups of {len(rows)} {noun} are purged soon"
    return backup_mail("last_chance", lake=lake, username=username, subject=subject, rows=rows)


def purge_due(lake: str, *, now: datetime) -> list[BackupBatch]:
    """Give at most `MAX_BATCHES` that may be purged now; none while the red button is on.

    What holds no data any more needs no notice; only its papers go.
    """
    if red_button_state(lake) is not None:
        return []
    last_day = day_of(now - LAST_CHANCE, get_lake(lake).zone)
    told = PurgeAnnouncement.objects.filter(
        batch=OuterRef("pk"), notice__state=NoticeState.SENT, notice__sent_on__lte=last_day
    )
    due = purgeable_batches(lake, now=now).filter(Exists(told) | Q(state__in=WITHOUT_DATA))
    return list(due[:MAX_BATCHES])
