"""Reads and writes the catalog's entries of some names by a fixed number of statements.

Whoever writes holds the follower's position of the lake first, as the follower itself does, so that
events and a scan never write the same names at once.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from django.db.models import Max, Q

from portal.catalog.domain.entries import Entries, Entry, Name, TableFacts
from portal.catalog.models import Table, VacatedName
from portal.catalog.selectors import is_named
from portal.events.models import EventPosition
from portal.upserts import conflict_key

_WRITTEN = (
    *("db", "name", "format", "uuid", "location", "owner", "db_owner", "metastore_id"),
    *("created_at", "event_id", "last_seen_at", "deleted_at", "is_living"),
)


def lake_lock(lake: str) -> None:
    """Hold the follower's position of a lake until the transaction ends."""
    list(EventPosition.objects.select_for_update().filter(lake=lake))


def entries_locked(
    lake: str,
    names: Iterable[Name],
    *,
    uuids: Iterable[str] = (),
    metastore_ids: Iterable[int] = (),
    since: datetime | None = None,
) -> Entries:
    """Read the entries that these names mean, and those of these tables under other names.

    What was decided before `since` gives way to whatever comes now: its event may have been one of
    an older log. To be called in a transaction.
    """
    lake_lock(lake)
    entries = Entries()
    named = is_named(names)
    numbers = set(metastore_ids)
    known = {uuid for uuid in uuids if uuid}
    for row in Table.objects.filter(named, lake=lake, is_living=True):
        entries.add(_entry(row, since))
    others = Q(metastore_id__in=numbers) if numbers else Q()
    if known:
        others |= Q(uuid__in=known, is_living=None)
    if others:
        read = [entry.key for entry in entries.living.values() if entry.key is not None]
        for row in Table.objects.filter(others, lake=lake).exclude(pk__in=read):
            entries.add(_entry(row, since))
    vacated = VacatedName.objects.filter(named, lake=lake)
    if since is not None:
        vacated = vacated.filter(at__gte=since)
    for db, name, event_id in vacated.values_list("db", "name", "event_id"):
        entries.decide((db, name), event_id)
    return entries


def entries_write(lake: str, entries: Entries, *, at: datetime) -> int:
    """Write what was decided, in the transaction that read it; returns how many tables changed."""
    touched = list(entries.touched.values())
    # Before names are freed: the only neighbour of a new table may leave its database with it.
    owners = _db_owners(lake, touched)
    if entries.freed:
        Table.objects.filter(pk__in=entries.freed).update(is_living=None, deleted_at=at)
    Table.objects.bulk_create(
        [_row(lake, entry, owners) for entry in touched if entry.key is not None],
        update_conflicts=True,
        unique_fields=conflict_key("id"),
        update_fields=_WRITTEN,
    )
    Table.objects.bulk_create([_row(lake, entry, owners) for entry in touched if entry.key is None])
    names_vacate(lake, entries.left, at=at)
    return len(touched)


def names_vacate(lake: str, left: Mapping[Name, int], *, at: datetime) -> None:
    """Remember that no table has these names any more, and by which event."""
    VacatedName.objects.bulk_create(
        [
            VacatedName(lake=lake, db=db, name=name, event_id=event_id, at=at)
            for (db, name), event_id in left.items()
        ],
        update_conflicts=True,
        unique_fields=conflict_key("lake", "db", "name"),
        update_fields=["event_id", "at"],
    )


def entries_trim(lake: str, *, before: datetime, at_once: int = 1_000) -> int:
    """Delete tables that were deleted before an instant, and names vacated then, in pieces."""
    VacatedName.objects.filter(lake=lake, at__lt=before).delete()
    old = Table.objects.filter(lake=lake, deleted_at__lt=before).order_by("pk")
    n_deleted = 0
    while keys := list(old.values_list("pk", flat=True)[:at_once]):
        Table.objects.filter(pk__in=keys).delete()
        n_deleted += len(keys)
    return n_deleted


def _entry(row: Table, since: datetime | None) -> Entry:
    decided_at = row.deleted_at or row.last_seen_at
    is_of_this_log = since is None or decided_at >= since
    return Entry(
        db=row.db,
        name=row.name,
        facts=TableFacts(row.format, row.uuid, row.location, row.owner),
        event_id=row.event_id if is_of_this_log else 0,
        first_seen_at=row.first_seen_at,
        last_seen_at=row.last_seen_at,
        deleted_at=row.deleted_at,
        db_owner=row.db_owner,
        metastore_id=row.metastore_id,
        created_at=row.created_at,
        key=row.pk,
    )


def _row(lake: str, entry: Entry, db_owners: dict[str, str]) -> Table:
    db_owner = entry.db_owner
    return Table(
        pk=entry.key,
        lake=lake,
        db=entry.db,
        name=entry.name,
        format=entry.facts.format,
        uuid=entry.facts.uuid,
        location=entry.facts.location,
        owner=entry.facts.owner,
        db_owner=db_owners.get(entry.db, "") if db_owner is None else db_owner,
        metastore_id=entry.metastore_id,
        created_at=entry.created_at,
        event_id=entry.event_id,
        first_seen_at=entry.first_seen_at,
        last_seen_at=entry.last_seen_at,
        deleted_at=entry.deleted_at,
        is_living=True if entry.deleted_at is None else None,
    )


def _db_owners(lake: str, touched: Sequence[Entry]) -> dict[str, str]:
    """Return who owns the databases of new tables, by another table of each: no event says it."""
    dbs = {entry.db for entry in touched if entry.db_owner is None}
    if not dbs:
        return {}
    living = Table.objects.filter(lake=lake, db__in=dbs, is_living=True)
    newest = living.order_by().values("db").annotate(newest=Max("pk")).values("newest")
    rows = Table.objects.filter(pk__in=newest)
    return dict(rows.values_list("db", "db_owner"))
