"""Records events of Hudi tables as rows: the tables, their places, and what is gone.

Events and polls write through here, and hearing the same twice does no harm. A name may come to
mean a table at another place, and then the old row is gone and a new one begins; one place may
have several names, and one of them is taken.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from optimizer.core.services.task_lifecycle import abandon_open
from optimizer.hudi.tables.domain.events import HeardHudi, HudiEvent
from optimizer.models import HudiAlarm, HudiTable

Name = tuple[str, str]
_CHUNK = 500
_GONE = "The table was dropped or moved, or its place has another name now."
_HEARD = (
    *("db", "table", "location", "place", "owner", "is_deleted", "deleted_at", "event_at"),
    *("properties", "inspect_due_at"),
)


@dataclass(frozen=True, slots=True)
class HudiRecordedChange:
    """What was written: the tables that are there and changed, and those that went."""

    changed: tuple[HudiTable, ...] = ()
    gone: tuple[HudiTable, ...] = ()


@dataclass(slots=True)
class _Rows:
    """The rows of some names and places of a lake, as they will be written."""

    lake: str
    now: datetime
    named: dict[Name, HudiTable] = field(default_factory=dict)
    placed: dict[str, HudiTable] = field(default_factory=dict)
    gone: dict[tuple[str, str, str], HudiTable] = field(default_factory=dict)
    touched: dict[int, HudiTable] = field(default_factory=dict)

    def apply(self, said: HudiEvent) -> None:
        """Take one thing in; those of one table come in the order in which they happened."""
        name = (said.db, said.table)
        if said.former is not None:
            self._rename(said.former, name, said.after)
        row = self.named.get(name)
        if said.after is None:
            # A drop heard late, of the table that had the name before, is none of this one.
            if row is not None and said.gone_place in ("", row.place):
                self.end(row)
            return
        if row is not None and row.place != said.after.place:
            self.end(row)
            row = None
        if row is None:
            row = self._begin(said.after)
        if row is not None:
            self._take_in(row, said.after)

    def end(self, row: HudiTable) -> None:
        """Let a table be gone; its history stays."""
        self.named.pop((row.db, row.table), None)
        self.placed.pop(row.place, None)
        self.gone[row.db, row.table, row.place] = row
        row.is_deleted, row.deleted_at, row.inspect_due_at = True, self.now, None
        self.touched[id(row)] = row

    def _rename(self, former: Name, name: Name, after: HeardHudi | None) -> None:
        row = self.named.get(former)
        if row is None:
            return
        taken = after is None or after.place != row.place or (*name, row.place) in self.gone
        if taken or name in self.named:
            self.end(row)
            return
        del self.named[former]
        row.db, row.table = name
        self.named[name] = row
        self.touched[id(row)] = row

    def _begin(self, after: HeardHudi) -> HudiTable | None:
        """Return the row of a table that was not there: a new one, or its own of earlier days.

        None where the place has another name already that is the better one.
        """
        other = self.placed.get(after.place)
        if other is not None:
            if _heard(other).rank < after.rank:
                return None
            self.end(other)
        row = self.gone.pop((after.db, after.table, after.place), None)
        if row is None:
            row = HudiTable(lake=self.lake, db=after.db, table=after.table, place=after.place)
        row.is_deleted, row.deleted_at = False, None
        self.named[after.db, after.table] = row
        self.placed[after.place] = row
        return row

    def _take_in(self, row: HudiTable, after: HeardHudi) -> None:
        row.owner = after.owner or row.owner
        row.location, row.properties = after.location, dict(after.properties)
        row.event_at = self.now
        row.inspect_due_at = min(row.inspect_due_at or self.now, self.now)
        self.touched[id(row)] = row


def hudi_note(lake: str, said: Sequence[HudiEvent], *, now: datetime) -> HudiRecordedChange:
    """Write what events mean, in their order; all of it or nothing."""
    if not said:
        return HudiRecordedChange()
    names = {(one.db, one.table) for one in said} | {one.former for one in said if one.former}
    with transaction.atomic():
        rows = _locked(lake, names, _places(said), now=now)
        for one in said:
            rows.apply(one)
        return _write(rows)


def hudi_record_listed(
    lake: str, listed: Sequence[HeardHudi], *, read_at: datetime, now: datetime
) -> HudiRecordedChange:
    """Write what a poll read of some tables; what was heard of since it began is known better."""
    said = [HudiEvent(one.db, one.table, one) for one in sorted(listed, key=lambda one: one.rank)]
    with transaction.atomic():
        names = {(one.db, one.table) for one in said}
        rows = _locked(lake, names, _places(said), now=now)
        for one in said:
            if one.after is not None and not _is_known(rows, one.after, read_at=read_at):
                rows.apply(one)
        return _write(rows)


def hudi_record_deleted(
    lake: str, keys: Sequence[int], *, read_at: datetime, now: datetime
) -> HudiRecordedChange:
    """Let tables be gone that a poll did not find, unless they were heard of since it began."""
    with transaction.atomic():
        rows = _Rows(lake, now)
        wanted = HudiTable.objects.filter(
            pk__in=keys, lake=lake, is_deleted=False, event_at__lt=read_at
        )
        for row in wanted.select_for_update().order_by("pk"):
            rows.end(row)
        return _write(rows)


def _is_known(rows: _Rows, after: HeardHudi, *, read_at: datetime) -> bool:
    row = rows.named.get((after.db, after.table))
    if row is not None:
        is_same = row.place == after.place and after.owner in ("", row.owner)
        is_same = is_same and row.properties == after.properties
        return is_same or row.event_at >= read_at
    other = rows.placed.get(after.place)
    if other is not None and other.event_at >= read_at:
        return True
    gone = rows.gone.get((after.db, after.table, after.place))
    return gone is not None and gone.deleted_at is not None and gone.deleted_at >= read_at


def _places(said: Iterable[HudiEvent]) -> set[str]:
    return {one.after.place for one in said if one.after is not None}


def _locked(lake: str, names: set[Name], places: set[str], *, now: datetime) -> _Rows:
    """Lock the rows that these names and places mean now, and gone ones that may come back."""
    rows = _Rows(lake, now)
    named = Q(db__in={db for db, _ in names}, table__in={table for _, table in names})
    wanted = (named & Q(is_deleted=False)) | Q(place__in=places)
    found = HudiTable.objects.select_for_update().filter(wanted, lake=lake).order_by("pk")
    for row in found:
        if row.is_deleted:
            rows.gone[row.db, row.table, row.place] = row
        else:
            rows.named[row.db, row.table] = row
            rows.placed[row.place] = row
    return rows


def _write(rows: _Rows) -> HudiRecordedChange:
    touched = list(rows.touched.values())
    # One that went gives its name up before another takes it.
    HudiTable.objects.bulk_update([row for row in touched if row.pk], _HEARD, batch_size=_CHUNK)
    # Two that hear of a table at once make one row.
    HudiTable.objects.bulk_create(
        [row for row in touched if not row.pk], batch_size=_CHUNK, ignore_conflicts=True
    )
    gone = tuple(row for row in touched if row.is_deleted)
    abandon_open(gone, reason=_GONE, now=rows.now)
    alarms_end(gone, now=rows.now)
    return HudiRecordedChange(tuple(row for row in touched if not row.is_deleted), gone)


def _heard(row: HudiTable) -> HeardHudi:
    return HeardHudi(row.db, row.table, row.location, row.owner)


def alarms_end(tables: Sequence[HudiTable], *, now: datetime) -> None:
    """Close the alarms of tables that are gone, without a word: they are told of as gone."""
    rows = HudiAlarm.objects.filter(table__in=[one.pk for one in tables], is_open=True)
    rows.update(is_open=None, closed_at=now, resolved_notified_at=now)
