"""Compares Iceberg tables found by a metastore poll with the stored rows, for new and gone ones.

Several commits may hide behind one change: the look at the table's metadata finds them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import Exists, OuterRef

from optimizer.core.selectors.tables import unseen
from optimizer.core.services.retention import forget, kept
from optimizer.iceberg.tables.domain.events import PARAMETERS, TableEvent, iceberg_table
from optimizer.iceberg.tables.services.record_changes import record_deleted, record_listed
from optimizer.models import Commit, IcebergTable
from portal.access.lakes import get_lake
from portal.connectors.metastore_db import parameter_column
from portal.runs.results.parquet import result_rows

_RESULTS = "iceberg_tables"
_CHUNK = 500
_COLUMNS = {name: parameter_column(name) for name in ("metadata_location", *PARAMETERS)}

Changed = Callable[[Sequence[IcebergTable]], object]


def poll(
    lake: str,
    results_uri: str,
    *,
    read_at: datetime,
    now: datetime,
    changed: Changed | None = None,
) -> tuple[int, int]:
    """Write what a poll read that differs, and forget old commits; `changed` gets those rows."""
    listed = _listed(lake, results_uri)
    found = poll_compare(lake, listed, read_at=read_at, now=now, changed=changed)
    commits_forget(lake, now=now)
    return found


def poll_compare(
    lake: str,
    listed: Iterator[Sequence[TableEvent]],
    *,
    read_at: datetime,
    now: datetime,
    changed: Changed | None = None,
) -> tuple[int, int]:
    """Write what differs from our rows, in chunks; returns how many changed and how many went."""
    seen: set[tuple[str, str]] = set()
    n_changed = 0
    for some in listed:
        seen.update((one.db, one.table) for one in some)
        rows = record_listed(lake, some, read_at=read_at, now=now).changed
        n_changed += len(rows)
        if changed is not None:
            changed(rows)
    n_gone = 0
    for keys in unseen(IcebergTable, lake, seen):
        n_gone += record_deleted(lake, keys, read_at=read_at, now=now).n_gone
    return n_changed, n_gone


def _listed(lake: str, results_uri: str) -> Iterator[list[TableEvent]]:
    for rows in result_rows(get_lake(lake), results_uri, _RESULTS, chunk=_CHUNK):
        read = (_heard(row) for row in rows)
        yield [one for one in read if one is not None]


def _heard(row: Mapping[str, Any]) -> TableEvent | None:
    parameters = {name: row[column] for name, column in _COLUMNS.items() if row[column] is not None}
    parameters["table_type"] = "iceberg"
    return iceberg_table(
        (row["db"], row["tbl"]),
        parameters,
        owner=row["owner"] or "",
        location=row["location"] or "",
    )


def commits_forget(lake: str, *, now: datetime) -> int:
    """Forget commits that nothing is decided by any more; returns how many."""
    before = now - kept(settings.LAKEWARDEN_OPTIMIZER_COMMIT_DAYS)
    # Asked row by row for its lake: a join would put the old ones of all tables in order first.
    of_lake = Exists(IcebergTable.objects.filter(pk=OuterRef("table_id"), lake=lake))
    return forget(Commit.objects.filter(of_lake, at__lt=before).order_by("at"))
