"""Queues notices to people, one week before their data expires, and records what each covers.

One mail a person and day, grouped by table. What a notice covers may be dropped only when that mail
has been sent and its days have passed; the rule is `lifecycle.drop.domain.plan.is_announced`.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from lifecycle.core.domain.modes import DatabaseMode
from lifecycle.core.selectors.sent_notices import is_covered, newest_sent_notices
from lifecycle.core.services.people import People, responsible_of
from lifecycle.inventory.selectors.dropped import due_of, take_off_dropped
from lifecycle.models import DatabaseSetting, NoticeCoverage, ScanSnapshot, TableFinding
from lifecycle.notices.domain.notice import Responsible, horizon_on
from lifecycle.notices.services.week_ahead_mail import TableNews, week_ahead_mail
from portal.notices.models import Notice
from portal.notices.services import notice_queue

KIND = "lifecycle.week_ahead"


@dataclass(frozen=True)
class _Told:
    """One table that is written about, to whom, and who of them must have got the mail."""

    news: TableNews
    responsible: Responsible
    covering: tuple[str, ...]


def week_ahead_queue(generation: ScanSnapshot, *, now: datetime) -> int:
    """Queue the day's notices for one picture of the lake; repeated, it queues nothing more.

    Only databases in NOTIFY and ACT. A person is written to when at least one of their tables has
    something due within the notice days that no earlier notice covers.
    """
    people = People.of(generation.lake)
    told: dict[str, list[_Told]] = defaultdict(list)
    for one in _tables_to_tell(generation, people):
        for username in one.responsible.usernames:
            told[username].append(one)
    n_queued = 0
    for username, tables in sorted(told.items()):
        if any(one.news.is_new for one in tables):
            _queue_one(generation, username, tables, people=people, now=now)
            n_queued += 1
    return n_queued


def _tables_to_tell(generation: ScanSnapshot, people: People) -> Iterable[_Told]:
    days = notifying_days(generation.lake)
    rows = TableFinding.objects.filter(
        generation=generation, db__in=list(days), window_due_last_on__isnull=False
    ).order_by("db", "table")
    tables = list(rows)
    take_off_dropped(tables)
    tables = [table for table in tables if due_of(table).n_items or not table.dropped.n_items]
    announced = newest_sent_notices(generation.lake, [table.tbl_id for table in tables])
    for table in tables:
        responsible = responsible_of(table, people)
        news = TableNews(
            table=table,
            unreachable=responsible.unknown,
            horizon_on=horizon_on(generation.day, notice_days=days[table.db]),
            is_new=not is_covered(table, announced.get(table.tbl_id, ())),
        )
        yield _Told(news, responsible, _covering(table, responsible, people))


def _covering(table: TableFinding, responsible: Responsible, people: People) -> tuple[str, ...]:
    """Give whose mail must be sent: the first who answers for the table, or any admin in place."""
    first = responsible.usernames[:1]
    administrators = people.administrators.get(table.db, ())
    named = people.behind(table.owner, table.db_owner, *administrators)
    return first if set(named) & set(first) else responsible.usernames


def notifying_days(lake: str) -> dict[str, int]:
    """Return the databases whose people are written to, each with its notice days."""
    modes = [mode for mode in DatabaseMode if mode.may_notify]
    rows = DatabaseSetting.objects.filter(lake=lake, mode__in=modes)
    return dict(rows.values_list("db", "notice_days"))


def _queue_one(
    generation: ScanSnapshot,
    username: str,
    tables: list[_Told],
    *,
    people: People,
    now: datetime,
) -> None:
    news = [one.news for one in tables]
    mail = week_ahead_mail(news, generation=generation, username=username, kind=KIND)
    with transaction.atomic():
        notice = notice_queue(
            KIND,
            lake=generation.lake,
            day=generation.day,
            recipient=username,
            email=people.addresses[username],
            mail=mail,
            now=now,
        )
        # A mail of an earlier scan of the same day said something else: it covers only that.
        if notice.text == mail.text:
            covered = [one.news for one in tables if username in one.covering]
            NoticeCoverage.objects.bulk_create(
                [_coverage(news, notice, generation) for news in covered], ignore_conflicts=True
            )


def _coverage(news: TableNews, notice: Notice, generation: ScanSnapshot) -> NoticeCoverage:
    table = news.table
    if table.level is None or table.ttl is None:
        raise ValueError(f"{table} is due without a level and a ttl")
    return NoticeCoverage(
        lake=generation.lake,
        db=table.db,
        table=table.table,
        tbl_id=table.tbl_id,
        level=table.level,
        ttl=table.ttl,
        horizon_on=news.horizon_on,
        as_of=generation.as_of,
        read_at=generation.read_at,
        notice=notice,
    )
