"""Opens and closes alarms of Hudi tables, and notifies people that one began or ended.

Admins and operators are told of every table and owners of theirs, once an alarm: it lasts from the
look that finds it until one that does not. Telling twice writes nothing new.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.urls import reverse

from optimizer.hudi.inspect.domain.alarms import TITLES, Raised, is_worse, over
from optimizer.hudi.inspect.domain.facts import HudiInspection
from optimizer.hudi.inspect.domain.findings import Severity
from optimizer.models import HudiAlarm, HudiTable
from portal.access.lakes import get_lake
from portal.lake.clock import day_of
from portal.lake.lines import one_line
from portal.notices.letters import Letter, Row, letter_mail
from portal.notices.reached import get_notified_user, notified_staff
from portal.notices.services import notice_queue, webhook_queue

RAISED, OVER = "optimizer.hudi_alarm", "optimizer.hudi_over"
# One that comes and goes is told of once in so long, unless it is worse than what was told.
QUIET_FOR = timedelta(hours=24)


def alarms_keep(
    table: HudiTable, look: HudiInspection, holds: Mapping[str, Raised], *, now: datetime
) -> None:
    """Open, renew and close a table's alarms by a look; the table's row is locked meanwhile."""
    known = {one.code: one for one in HudiAlarm.objects.filter(table=table, is_open=True)}
    ended = over(look, holds.keys(), known.keys())
    HudiAlarm.objects.filter(table=table, is_open=True, code__in=ended).update(
        is_open=None, closed_at=now
    )
    for code, one in holds.items():
        said = {"severity": one.severity.value, "words": one.words}
        if code in known:
            is_news = is_worse(one.severity, known[code].severity)
            again = {"notified_at": None, "resolved_notified_at": None} if is_news else {}
            HudiAlarm.objects.filter(pk=known[code].pk).update(**said, **again)
            continue
        told = HudiAlarm.objects.filter(table=table, code=code, notified_at__gt=now - QUIET_FOR)
        last = told.order_by("-notified_at").first()
        if last is not None and is_worse(one.severity, last.severity):
            last = None
        HudiAlarm.objects.create(
            table=table,
            code=code,
            opened_at=now,
            notified_at=last.notified_at if last else None,
            # Of one that comes and goes the end is not told again either.
            resolved_notified_at=last.resolved_notified_at if last else None,
            **said,
        )


def alarms_tell(lake: str, *, now: datetime) -> int:
    """Write of every alarm of a lake that began, or is over, untold; returns how many mails."""
    rows = HudiAlarm.objects.filter(table__lake=lake).exclude(severity=Severity.INFO)
    begun = rows.filter(is_open=True, notified_at=None)
    ended = rows.filter(is_open=None, resolved_notified_at=None).exclude(notified_at=None)
    with transaction.atomic():
        # People believe that these are over, and they have been back for long.
        _thought_over(rows, now - QUIET_FOR).update(notified_at=None, resolved_notified_at=None)
        began = _marked(begun, "notified_at", now=now)
        over_now = [one for one in _marked(ended, "resolved_notified_at", now=now) if _is_over(one)]
        return _write(RAISED, lake, began, now=now) + _write(OVER, lake, over_now, now=now)


def _thought_over(rows: QuerySet[HudiAlarm], at: datetime) -> QuerySet[HudiAlarm]:
    """Return open alarms whose end was told, and whose beginning was last told before `at`."""
    return rows.filter(is_open=True, notified_at__lte=at).exclude(resolved_notified_at=None)


def alarms_open(lake: str) -> QuerySet[HudiAlarm]:
    """Return the open alarms of a lake's tables, the worst first."""
    rows = HudiAlarm.objects.filter(table__lake=lake, is_open=True).select_related("table")
    return rows.order_by("severity", "table__db", "table__table", "code")


def _marked(rows: QuerySet[HudiAlarm], field: str, *, now: datetime) -> list[HudiAlarm]:
    """Note that somebody writes of them; those that another does are left out."""
    wanted = Q(**{field: None})
    found = list(rows.select_related("table").order_by("table__db", "table__table", "code"))
    return [
        one for one in found if HudiAlarm.objects.filter(wanted, pk=one.pk).update(**{field: now})
    ]


def _is_over(alarm: HudiAlarm) -> bool:
    """Whether it has not begun again since."""
    return not HudiAlarm.objects.filter(
        table=alarm.table_id, code=alarm.code, is_open=True
    ).exists()


def _write(kind: str, lake: str, alarms: Sequence[HudiAlarm], *, now: datetime) -> int:
    if not alarms:
        return 0
    day = day_of(now, get_lake(lake).zone)
    # Of one kind one mail a day is written, and each alarm is told of.
    once = f"{kind}.{int(now.timestamp() * 1_000_000)}"
    told = _by_recipient(lake, alarms)
    for (username, email), theirs in told.items():
        subject = _subject(kind, theirs)
        mail = letter_mail(_letter(kind, subject, theirs), username=username)
        notice_queue(once, lake=lake, day=day, recipient=username, email=email, mail=mail, now=now)
    webhook_queue(once, lake=lake, day=day, text=_subject(kind, alarms), now=now)
    return len(told)


def _by_recipient(lake: str, alarms: Sequence[HudiAlarm]) -> dict[tuple[str, str], list[HudiAlarm]]:
    """Return whom to write to, by name and address, and of what."""
    keepers = notified_staff(lake)
    found: defaultdict[tuple[str, str], list[HudiAlarm]] = defaultdict(list)
    owners: dict[str, str] = {}
    for one in alarms:
        owner = one.table.owner
        if owner and owner not in owners:
            owners[owner] = keepers.get(owner) or get_notified_user(owner)
        people = {**keepers, owner: owners[owner]} if owners.get(owner) else keepers
        for recipient in people.items():
            found[recipient].append(one)
    return found


def _subject(kind: str, alarms: Sequence[HudiAlarm]) -> str:
    tables = {str(one.table) for one in alarms}
    where = next(iter(tables)) if len(tables) == 1 else f"{len(tables)} Hudi tables"
    what = TITLES.get(alarms[0].code, alarms[0].code) if len(alarms) == 1 else "alarms"
    if kind == RAISED:
        return one_line(f"Alarm: {what} of {where}" if len(alarms) == 1 else f"Alarms of {where}")
    return one_line(
        f"Resolved: {what} of {where}" if len(alarms) == 1 else f"Resolved: alarms of {where}"
    )


def _letter(kind: str, subject: str, alarms: Sequence[HudiAlarm]) -> Letter:
    is_raised = kind == RAISED
    rows = []
    for one in alarms:
        title = TITLES.get(one.code, one.code)
        words = one.words if is_raised else f"since {one.opened_at:%Y-%m-%d %H:%M}"
        url = f"{settings.LAKEWARDEN_BASE_URL}{_table_path(one.table)}"
        rows.append(Row(str(one.table), f"{title}: {words}", url))
    after = (
        "The page of a table shows the evidence and how to fix it. Another mail is sent when an "
        "inspection no longer finds it, or finds it worse."
        if is_raised
        else "The last inspection no longer found it."
    )
    return Letter(subject=subject, intro=f"{subject}.", rows=rows, after=(after,))


def _table_path(table: HudiTable) -> str:
    if table.is_deleted:
        return reverse("optimizer:hudi-table", args=[table.pk])
    path = reverse("ui:table-tab", args=[table.db, table.table, "files"])
    return f"{path}?{urlencode({'lake': table.lake})}"
