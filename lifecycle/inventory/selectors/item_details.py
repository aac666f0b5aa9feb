"""Explains why an item is expiring, when it may be dropped, and what prevents it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime

from django.db.models import Q

from lifecycle.backup.models import Hold
from lifecycle.backup.selectors import holds_active
from lifecycle.core.domain.modes import DatabaseMode
from lifecycle.core.selectors.sent_notices import newest_sent_notices
from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.models import DatabaseSetting, NoticeCoverage, SamplePartition, TableFinding
from lifecycle.notices.domain.notice import NOTICE_DAYS, earliest_drop_on

_STOPPED_BY_CLASS = {
    ExpiryClass.SOON: "It is not due yet.",
    ExpiryClass.NOT_NOW: "It is not due yet.",
    ExpiryClass.STILL_READ: "It was read recently: it is deleted only with its owner's consent.",
    ExpiryClass.HELD: "A hold keeps it.",
    ExpiryClass.NOT_ENROLLED: "The table has no LEVEL and TTL of its own.",
    ExpiryClass.UNSUPPORTED: "Its format is left alone.",
    ExpiryClass.NONCONFORMING: "Its path breaks the rules; such tables are only reported.",
    ExpiryClass.UNREADY: "Its data is not complete (commit=false).",
    ExpiryClass.KEEP_FOREVER: "LEVEL 0 keeps it for ever.",
    ExpiryClass.MISSING_DIRECTORY: "Its directory is gone; there is nothing to back up.",
    ExpiryClass.UNKNOWN: "The scan could not judge it.",
}


@dataclass(frozen=True)
class SentNotice:
    """The notice that speaks of an item, as far as there is one."""

    state: str
    recipient: str
    queued_on: date
    sent_on: date | None


@dataclass(frozen=True)
class Why:
    """Everything about one item's end, in the order a reader asks for it."""

    item: SamplePartition
    mode: DatabaseMode
    announcement: SentNotice | None
    earliest_on: date | None
    holds: tuple[Hold, ...]
    stops: tuple[str, ...]


def expiry_reason(table: TableFinding, item: SamplePartition, *, now: datetime, today: date) -> Why:
    """Tell why an item of the current picture goes or stays."""
    setting = DatabaseSetting.objects.filter(lake=table.lake, db=table.db).first()
    mode = DatabaseMode(setting.mode) if setting else DatabaseMode.OBSERVE
    notice_days = setting.notice_days if setting else NOTICE_DAYS
    announced = newest_sent_notices(table.lake, [table.tbl_id]).get(table.tbl_id, ())
    covering = _covering(item, announced)
    holds = tuple(_holds_on(table, item, now=now))
    earliest = None
    if covering and covering.sent_on and item.due_on:
        earliest = earliest_drop_on(item.due_on, sent_on=covering.sent_on, notice_days=notice_days)
    return Why(
        item=item,
        mode=mode,
        announcement=_announcement(covering),
        earliest_on=earliest,
        holds=holds,
        stops=(
            *_stops_by_item(item, mode=mode, holds=holds),
            *_stops_by_notice(item, covering=covering, earliest=earliest, today=today),
            "Two people must approve a plan that names it.",
        ),
    )


def _covering(item: SamplePartition, announced: Iterable[NoticeCoverage]) -> NoticeCoverage | None:
    """Return the sent announcement that lets the item go soonest, else one that still waits."""
    fitting = [row for row in announced if _speaks_of(row, item)]
    sent = [row for row in fitting if row.sent_on]
    if sent:
        return min(sent, key=lambda row: row.sent_on or date.max)
    return fitting[0] if fitting else None


def _speaks_of(row: NoticeCoverage, item: SamplePartition) -> bool:
    if item.due_on is None or item.created_at is None or item.updated_at is None:
        return False
    return (
        (row.level, row.ttl) == (item.level, item.ttl)
        and item.due_on <= row.horizon_on
        and item.created_at < row.read_at
        and item.updated_at <= row.as_of
    )


def _announcement(row: NoticeCoverage | None) -> SentNotice | None:
    if row is None:
        return None
    notice = row.notice
    return SentNotice(notice.state, notice.recipient, notice.day, row.sent_on)


def _holds_on(table: TableFinding, item: SamplePartition, *, now: datetime) -> Iterable[Hold]:
    names = Q(table="") | Q(table=table.table, partition__in=["", item.partition])
    return holds_active(table.lake, now=now).filter(names, db=table.db).order_by("placed_at")


def _stops_by_item(
    item: SamplePartition, *, mode: DatabaseMode, holds: Iterable[Hold]
) -> Iterable[str]:
    by_class = _STOPPED_BY_CLASS.get(ExpiryClass(item.cls))
    if by_class:
        yield by_class
    for hold in holds:
        end = f"until {hold.until:%Y-%m-%d}" if hold.until else "until released"
        yield f"{hold.placed_by} holds it {end}: {hold.reason}"
    if not mode.may_act:
        yield f"The database is in {mode.label}; only Enforce lets anything be dropped."


def _stops_by_notice(
    item: SamplePartition,
    *,
    covering: NoticeCoverage | None,
    earliest: date | None,
    today: date,
) -> Iterable[str]:
    if item.due_on is None:
        return
    if covering is None:
        yield "No notice has announced it yet."
    elif covering.sent_on is None:
        yield "The notice about it has not been sent yet."
    elif earliest is not None and earliest > today:
        yield f"Not before {earliest:%Y-%m-%d}: the notice days and the due day must pass."
