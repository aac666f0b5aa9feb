"""Announces the final notice to restore a backup, and decides when it may be purged.

Purge is the only irreversible step. A batch goes only when a notice that named it and its date was
sent to its owner three days before, and its own days are over; the job checks marker, manifest,
holds and live locations. A date that moved by more than a day is announced again.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from lifecycle.backup.models import BackupBatch
from lifecycle.backup.selectors import WITHOUT_DATA, purgeable_batches
from lifecycle.core.services.people import People
from lifecycle.models import PurgeNotice
from lifecycle.restore.domain import Recipients, may_be_purged, names_the_date
from lifecycle.restore.selectors.backups import batches_to_notify
from lifecycle.restore.services.mail import backup_mail
from portal.access.lakes import get_lake
from portal.lake.clock import day_of
from portal.notices.models import NoticeState
from portal.notices.services import Mail, notice_queue
from portal.safety.selectors import emergency_stop_state

PURGE_KIND = "lifecycle.purge"
NOTICE_KIND = "lifecycle.last_chance"
LAST_CHANCE = timedelta(days=3)
MAX_BATCHES = 1_000
MAX_NOTIFIED = 5_000
_CHUNK = 1_000


def last_chance_queue(lake: str, *, now: datetime) -> int:
    """Tell each person once of backups whose last three days have begun; returns how many mails.

    Told again is who could not be written to, and everybody when the date has moved.
    """
    people = People.of(lake)
    told: dict[str, list[BackupBatch]] = defaultdict(list)
    announced = PurgeNotice.objects.exclude(notice__state=NoticeState.FAILED)
    n_new = 0
    for batches in _chunks(batches_to_notify(lake, now=now, ahead=LAST_CHANCE)):
        named = _named_in(announced, batches)
        for batch in batches:
            missing = set(_recipients(batch, people).everyone) - named[batch.pk]
            n_new += bool(missing)
            for username in missing:
                told[username].append(batch)
        if n_new >= MAX_NOTIFIED:
            break
    for username, of_person in sorted(told.items()):
        _queue(lake, username, of_person, email=people.addresses[username], now=now)
    return len(told)


def _recipients(batch: BackupBatch, people: People) -> Recipients:
    """Return whom a batch's notice goes to: its owner and administrators, else the admins."""
    owners = _reachable(people, batch.table_owner)
    others = _reachable(people, *people.administrators.get(batch.db, ()))
    if not owners and not others:
        others = people.admins
    return Recipients(owners, others)


def _reachable(people: People, *names: str) -> tuple[str, ...]:
    return tuple(name for name in people.behind(*names) if name in people.addresses)


def _chunks(batches: QuerySet[BackupBatch]) -> Iterator[list[BackupBatch]]:
    """Yield batches some thousand at a time."""
    rows = batches.iterator(chunk_size=_CHUNK)
    while chunk := list(islice(rows, _CHUNK)):
        yield chunk


def _named_in(
    announced: QuerySet[PurgeNotice], batches: Sequence[BackupBatch]
) -> defaultdict[int, set[str]]:
    """Return by batch who got one of these notices with the date on which its purge is due."""
    dates = {batch.pk: batch.purge_after for batch in batches}
    rows = announced.filter(batch__in=dates).values_list(
        "batch_id", "purge_after", "notice__recipient"
    )
    named: defaultdict[int, set[str]] = defaultdict(set)
    for batch, purge_after, recipient in rows:
        if names_the_date(purge_after, dates[batch]):
            named[batch].add(recipient)
    return named


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
            PurgeNotice.objects.bulk_create(
                [
                    PurgeNotice(batch=batch, notice=notice, purge_after=batch.purge_after)
                    for batch in batches
                ],
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
    subject = f"Final notice: the backups of {len(rows)} {noun} are purged soon"
    return backup_mail("last_chance", lake=lake, username=username, subject=subject, rows=rows)


def purge_due(lake: str, *, now: datetime) -> list[BackupBatch]:
    """Return at most `MAX_BATCHES` that may be purged now; none while the emergency stop is on.

    What holds no data any more needs no notice; only its papers go.
    """
    if emergency_stop_state(lake) is not None:
        return []
    last_day = day_of(now - LAST_CHANCE, get_lake(lake).zone)
    sent = PurgeNotice.objects.filter(notice__state=NoticeState.SENT, notice__sent_on__lte=last_day)
    told = Exists(sent.filter(batch=OuterRef("pk")))
    due = purgeable_batches(lake, now=now).filter(told | Q(state__in=WITHOUT_DATA))
    people = People.of(lake)
    found: list[BackupBatch] = []
    for batches in _chunks(due):
        named = _named_in(sent, batches)
        found += [
            batch
            for batch in batches
            if batch.state in WITHOUT_DATA
            or may_be_purged(_recipients(batch, people), named[batch.pk])
        ]
        if len(found) >= MAX_BATCHES:
            break
    return found[:MAX_BATCHES]
