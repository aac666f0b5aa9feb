"""Records events of Iceberg tables as rows: the tables, their commits, and what is gone.

Events and polls write through here. Many tables take a fixed number of statements, and hearing the
same twice does no harm. A name may come to mean another table: the uuid tells, and then the old row
is gone and a new one begins.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from optimizer.core.services.bulk_rows import insert_rows
from optimizer.core.services.task_lifecycle import abandon_open
from optimizer.iceberg.tables.domain.events import Heard, SnapshotEvent, TableEvent
from optimizer.models import Commit, IcebergTable
from portal.catalog.selectors import is_named

Name = tuple[str, str]
_GONE = "The table was dropped, or another table has its name now."
_HEARD = (
    "db",
    "table",
    "uuid",
    "owner",
    "location",
    "metadata_location",
    "snapshot_id",
    "is_deleted",
    "deleted_at",
    "event_at",
    "committed_at",
    "n_files",
    "n_bytes",
    "n_rows",
    "n_delete_files",
    "n_snapshots",
    "columns",
    "partition_spec",
    "inspect_due_at",
)


@dataclass(frozen=True, slots=True)
class RecordedChange:
    """What was written: the tables that changed, and those of them that others committed to."""

    changed: tuple[IcebergTable, ...] = ()
    committed: tuple[IcebergTable, ...] = ()
    n_gone: int = 0


@dataclass(slots=True)
class _Rows:
    """The rows of some names of a lake, as they will be written."""

    lake: str
    source: str
    now: datetime
    current: dict[Name, IcebergTable] = field(default_factory=dict)
    gone: dict[tuple[str, str, str], IcebergTable] = field(default_factory=dict)
    touched: dict[int, IcebergTable] = field(default_factory=dict)
    snapshots: list[tuple[IcebergTable, SnapshotEvent]] = field(default_factory=list)

    def apply(self, said: Heard) -> None:
        """Take one thing in; those of one table come in the order in which they happened."""
        name = (said.db, said.table)
        if said.former is not None:
            self._rename(said.former, name, said.after)
        row = self.current.get(name)
        if said.after is None:
            # A drop heard late, of the table that had the name before, is none of this one.
            if row is not None and said.gone_uuid in ("", row.uuid):
                self.end(row)
        elif row is None or not _is_same(row, said.after) or self._is_back(row, said.after):
            if row is not None:
                self.end(row)
            self._take_in(self._begin(said.after), said.after)
        else:
            self._take_in(row, said.after)

    def end(self, row: IcebergTable) -> None:
        """Let a table be gone; its history stays."""
        self.current.pop((row.db, row.table), None)
        self.gone[row.db, row.table, row.uuid] = row
        row.is_deleted, row.deleted_at, row.inspect_due_at = True, self.now, None
        self.touched[id(row)] = row

    def _rename(self, former: Name, name: Name, after: TableEvent | None) -> None:
        row = self.current.get(former)
        if row is None:
            return
        taken = after is None or (*name, row.uuid) in self.gone or not _is_same(row, after)
        if taken or name in self.current:
            self.end(row)
            return
        del self.current[former]
        row.db, row.table = name
        self.current[name] = row
        self.touched[id(row)] = row

    def _is_back(self, row: IcebergTable, after: TableEvent) -> bool:
        """Whether a table registered without its uuid turns out to be one that went before."""
        return not row.uuid and (row.db, row.table, after.uuid) in self.gone

    def _begin(self, after: TableEvent) -> IcebergTable:
        """Return the row of a table that was not there: a new one, or its own of earlier days."""
        row = self.gone.pop((after.db, after.table, after.uuid), None)
        if row is None:
            row = IcebergTable(
                lake=self.lake, db=after.db, table=after.table, uuid=after.uuid, event_at=self.now
            )
        row.is_deleted, row.deleted_at = False, None
        self.current[after.db, after.table] = row
        return row

    def _take_in(self, row: IcebergTable, after: TableEvent) -> None:
        row.uuid = after.uuid or row.uuid
        row.owner = after.owner or row.owner
        row.location = after.location or row.location
        row.metadata_location = after.metadata_location
        row.event_at = self.now
        row.inspect_due_at = row.inspect_due_at or self.now
        if after.columns is not None:
            row.columns = dict(after.columns)
        if after.partition_spec is not None:
            row.partition_spec = after.partition_spec
        if after.n_snapshots is not None:
            row.n_snapshots = after.n_snapshots
        snapshot = after.snapshot
        # A writer that tells no snapshot leaves that of the one before it in the parameters.
        if snapshot is not None and snapshot.snapshot_id != row.snapshot_id:
            row.snapshot_id, row.committed_at = snapshot.snapshot_id, snapshot.at
            row.n_files, row.n_bytes = snapshot.n_files, snapshot.n_bytes
            row.n_rows, row.n_delete_files = snapshot.n_rows, snapshot.n_delete_files
            self.snapshots.append((row, snapshot))
        self.touched[id(row)] = row


def note(lake: str, said: Sequence[Heard], *, now: datetime) -> RecordedChange:
    """Write what events mean, in their order; all of it or nothing."""
    if not said:
        return RecordedChange()
    names = {(one.db, one.table) for one in said} | {one.former for one in said if one.former}
    with transaction.atomic():
        rows = _locked(lake, names, _uuids(said), source="event", now=now)
        for one in said:
            rows.apply(one)
        return _write(rows)


def record_listed(
    lake: str, listed: Sequence[TableEvent], *, read_at: datetime, now: datetime
) -> RecordedChange:
    """Write what a poll read of some tables; what was heard of since it began is known better."""
    said = [Heard(one.db, one.table, one) for one in listed]
    with transaction.atomic():
        names = {(one.db, one.table) for one in said}
        rows = _locked(lake, names, _uuids(said), source="poll", now=now)
        for one in said:
            if one.after is not None and not _is_known(rows, one.after, read_at=read_at):
                rows.apply(one)
        return _write(rows)


def record_deleted(
    lake: str, keys: Sequence[int], *, read_at: datetime, now: datetime
) -> RecordedChange:
    """Let tables be gone that a poll did not find, unless they were heard of since it began."""
    with transaction.atomic():
        rows = _Rows(lake, "poll", now)
        wanted = IcebergTable.objects.filter(pk__in=keys, is_deleted=False, event_at__lt=read_at)
        for row in wanted.select_for_update().order_by("pk"):
            rows.end(row)
        return _write(rows)


def _is_same(row: IcebergTable, after: TableEvent) -> bool:
    """Whether a name still means the table; writers that tell no uuid are believed."""
    return not after.uuid or not row.uuid or after.uuid == row.uuid


def _is_known(rows: _Rows, after: TableEvent, *, read_at: datetime) -> bool:
    name = (after.db, after.table)
    row = rows.current.get(name)
    if row is not None:
        same = _is_same(row, after) and row.metadata_location == after.metadata_location
        return same or row.event_at >= read_at
    gone = rows.gone.get((*name, after.uuid))
    return gone is not None and gone.deleted_at is not None and gone.deleted_at >= read_at


def _uuids(said: Iterable[Heard]) -> set[str]:
    return {one.after.uuid for one in said if one.after is not None}


def _locked(
    lake: str, names: Iterable[Name], uuids: set[str], *, source: str, now: datetime
) -> _Rows:
    """Lock the rows that these names mean now, and gone ones that may come back."""
    rows = _Rows(lake, source, now)
    wanted = is_named(names, column="table") & (Q(is_deleted=False) | Q(uuid__in=uuids))
    found = IcebergTable.objects.select_for_update().filter(wanted, lake=lake).order_by("pk")
    for row in found:
        if row.is_deleted:
            rows.gone[row.db, row.table, row.uuid] = row
        else:
            rows.current[row.db, row.table] = row
    return rows


def _write(rows: _Rows) -> RecordedChange:
    touched = list(rows.touched.values())
    # An insert that finds them there: an update of each takes twenty times as long.
    insert_rows([row for row in touched if row.pk], update=_HEARD)
    _create([row for row in touched if not row.pk])
    insert_rows([_commit(row, snapshot, rows) for row, snapshot in rows.snapshots])
    ours = [snapshot.snapshot_id for _, snapshot in rows.snapshots if snapshot.is_ours]
    if ours:
        # A writer's report may have come first; it does not say whose commit it was.
        tables = [row.pk for row, snapshot in rows.snapshots if snapshot.is_ours]
        told = Commit.objects.filter(table__in=tables, snapshot_id__in=ours, is_ours=False)
        told.update(is_ours=True)
    gone = [row for row in touched if row.is_deleted]
    abandon_open(gone, reason=_GONE, now=rows.now)
    by_others = {id(row): row for row, snapshot in rows.snapshots if not snapshot.is_ours}
    return RecordedChange(
        tuple(row for row in touched if not row.is_deleted),
        tuple(row for row in by_others.values() if not row.is_deleted),
        len(gone),
    )


def _create(new: Sequence[IcebergTable]) -> None:
    """Insert rows and learn their keys; two that hear of a table at once make one row."""
    if not new:
        return
    insert_rows(new)
    wanted = is_named(((row.db, row.table) for row in new), column="table")
    stored = IcebergTable.objects.filter(
        wanted, lake=new[0].lake, uuid__in={row.uuid for row in new}
    ).only("db", "table", "uuid")
    keys = {
        (db, table, uuid): pk
        for pk, db, table, uuid in stored.values_list("pk", "db", "table", "uuid")
    }
    for row in new:
        row.pk = keys[row.db, row.table, row.uuid]


def _commit(row: IcebergTable, snapshot: SnapshotEvent, rows: _Rows) -> Commit:
    return Commit(
        table_id=row.pk,
        snapshot_id=snapshot.snapshot_id,
        at=snapshot.at or rows.now,
        event_at=rows.now,
        operation=snapshot.operation,
        is_ours=snapshot.is_ours,
        n_added=snapshot.n_added,
        n_removed=snapshot.n_removed,
        bytes_added=snapshot.bytes_added,
        bytes_removed=snapshot.bytes_removed,
        n_deletes_added=snapshot.n_deletes_added,
        n_changed_partitions=snapshot.n_changed_partitions,
        source=rows.source,
    )
