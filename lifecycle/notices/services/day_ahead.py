"""Queues notifications to people, one day before data of theirs may be dropped.

It speaks of what a sent week-ahead notice covers and whose days are over by tomorrow, each once.
One mail a person and day. It is a courtesy: the drop itself waits for the week-ahead notice only.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from lifecycle.answers.domain import DAYS_OFFERED, AnswerKind, MailLink
from lifecycle.answers.services.links import link_path
from lifecycle.core.selectors.sent_notices import coverages_of
from lifecycle.core.services.people import People, responsible_of
from lifecycle.core.services.report_mail import Cell, Closing, Section, report_mail
from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.inventory.models.findings import GenerationState
from lifecycle.inventory.selectors.dropped import all_dropped_partitions, gone_since
from lifecycle.models import PartitionRange, ScanSnapshot, TableFinding
from lifecycle.notices.domain.notice import Sent, first_drop_on, is_told_a_day_ahead
from lifecycle.notices.services.week_ahead import notifying_days
from lifecycle.notices.services.week_ahead_mail import list_path, table_path
from portal.notices.services import Mail, notice_queue
from portal.ui.templatetags.lw import human_bytes

KIND = "lifecycle.day_ahead"
HEAD = ("Table", "What", "Items", "Size", "Can be deleted from", "Answer")


@dataclass(frozen=True)
class Going:
    """A run of items of one table that may go soon; the first of them from `first_on`."""

    table: TableFinding
    items: PartitionRange
    first_on: date
    unreachable: tuple[str, ...]
    n_dropped: int = 0

    @property
    def n_left(self) -> int:
        """How many of the items are still there."""
        return self.items.n_items - self.n_dropped


def day_ahead_queue(generation: ScanSnapshot, *, now: datetime) -> int:
    """Queue the day's mails for one picture; repeated, it queues nothing more."""
    people = People.of(generation.lake)
    told: dict[str, list[Going]] = defaultdict(list)
    for going, usernames in _going(generation, people):
        for username in usernames:
            told[username].append(going)
    for username, rows in sorted(told.items()):
        notice_queue(
            KIND,
            lake=generation.lake,
            day=generation.day,
            recipient=username,
            email=people.addresses[username],
            mail=_mail(generation, username, rows),
            now=now,
        )
    return len(told)


def _going(generation: ScanSnapshot, people: People) -> Iterator[tuple[Going, tuple[str, ...]]]:
    days = notifying_days(generation.lake)
    tomorrow = generation.day + timedelta(days=1)
    announced = coverages_of(generation)
    before = _last_notified_on(generation)
    rows = PartitionRange.objects.filter(
        table__generation=generation,
        table__db__in=list(days),
        cls__in=[ExpiryClass.CLEAN_NOW, ExpiryClass.SOON],
        due_first__lte=tomorrow,
    )
    gone = gone_since(generation.lake)
    names: dict[int, set[str]] = {}
    for row in rows.select_related("table").order_by("table__db", "table__table", "pk"):
        table = row.table
        if (table.db, table.table) in gone and table.pk not in names:
            names = {table.pk: all_dropped_partitions(table)}
        sent = [
            Sent(one.horizon_on, one.sent_on)
            for one in announced.get(table.tbl_id, ())
            if (one.level, one.ttl) == (table.level, table.ttl)
        ]
        # What is due already waits for the notice only, so its last day stands for all of it.
        due_on = row.due_last if row.cls == ExpiryClass.CLEAN_NOW else row.due_first
        first_on = first_drop_on(due_on, sent, notice_days=days[table.db]) if due_on else None
        if first_on is None:
            continue
        if is_told_a_day_ahead(first_on, today=generation.day, last_notified_on=before):
            responsible = responsible_of(table, people)
            dropped = names.get(table.pk, ())
            n_dropped = sum(row.first <= one <= row.last for one in dropped)
            going = Going(table, row, first_on, responsible.unknown, n_dropped)
            if going.n_left > 0:
                yield going, responsible.usernames


def _last_notified_on(generation: ScanSnapshot) -> date | None:
    """Return the last day before this one whose picture was told of."""
    earlier = ScanSnapshot.objects.filter(lake=generation.lake, day__lt=generation.day)
    newest = earlier.exclude(state=GenerationState.LOADING).order_by("-day").first()
    return newest.day if newest else None


def _mail(generation: ScanSnapshot, username: str, rows: list[Going]) -> Mail:
    lake, tomorrow = generation.lake, generation.day + timedelta(days=1)
    n_tables = len({going.table.pk for going in rows})
    noun = "table" if n_tables == 1 else "tables"
    section = Section(
        title=f"Can be deleted from {tomorrow}",
        head=HEAD,
        rows=[_cells(going, _keep(going.table, generation, username)) for going in rows],
        path=list_path(lake, username),
        link="See why, and what you can do",
        note=_in_place_of(rows),
    )
    return report_mail(
        f"Tomorrow: your data in {n_tables} {noun} can be deleted",
        username=username,
        lead=f"the notice of this data of the lake {lake} was sent, and its days are over: an "
        f"admin may have it dropped from {tomorrow} on. Two people must approve that, and it is "
        "moved into a backup first, from which it can be restored.",
        sections=[section],
        closing=Closing("To keep data, write it again, or open its page and ask for more days."),
    )


def _keep(table: TableFinding, generation: ScanSnapshot, username: str) -> MailLink:
    """Return the answer that a row offers."""
    return MailLink(
        table.lake, table.db, table.table, AnswerKind.KEEP, DAYS_OFFERED[0], username, KIND,
        generation.day,
    )  # fmt: skip


def _cells(going: Going, link: MailLink) -> tuple[Cell, ...]:
    table, items = going.table, going.items
    names = items.first if items.first == items.last else f"{items.first} to {items.last}"
    day = str(going.first_on)
    if items.due_last and items.due_last > going.first_on:
        day = f"{day}, the last from {items.due_last}"
    n_items = f"{going.n_left:,}"
    if going.n_dropped:
        n_items += f" ({going.n_dropped:,} dropped since the scan)"
    size = "unknown"
    if items.n_bytes is not None:
        size = human_bytes(items.n_bytes * going.n_left // items.n_items)
    return (
        Cell(str(table), table_path(table)),
        Cell(names or "the whole table"),
        Cell(n_items, is_number=True),
        Cell(size, is_number=True),
        Cell(day),
        Cell(link.button, link_path(link), is_step=True),
    )


def _in_place_of(rows: list[Going]) -> str:
    """Say who should have been told and cannot be written to."""
    lost = {name: str(going.table) for going in reversed(rows) for name in going.unreachable}
    if not lost:
        return ""
    names = ", ".join(f"{name} (of {table})" for name, table in sorted(lost.items()))
    return f"Nobody can write to {names}: you are notified instead."
