"""Compares Hudi tables found by a metastore poll with the stored rows, for new and gone ones."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from optimizer.core.selectors.tables import unseen
from optimizer.hudi.tables.domain.events import PROVIDER, HeardHudi, hudi_table
from optimizer.hudi.tables.services.record_changes import hudi_record_deleted, hudi_record_listed
from optimizer.models import HudiTable
from portal.access.lakes import get_lake
from portal.runs.results.parquet import result_rows

RESULTS, PROPERTIES = "hudi_tables", "hudi_properties"
_CHUNK = 500


def hudi_listed(lake: str, results_uri: str) -> list[HeardHudi]:
    """Return the Hudi tables that a poll read, one for each place: the best of its names."""
    said: defaultdict[int, dict[str, str]] = defaultdict(dict)
    for rows in result_rows(get_lake(lake), results_uri, PROPERTIES):
        for row in rows:
            said[row["tbl_id"]][row["param"]] = row["val"] or ""
    best: dict[str, HeardHudi] = {}
    for rows in result_rows(get_lake(lake), results_uri, RESULTS, chunk=_CHUNK):
        for found in filter(None, (_heard(row, said.get(row["tbl_id"], {})) for row in rows)):
            known = best.get(found.place)
            if known is None or found.rank < known.rank:
                best[found.place] = found
    return list(best.values())


def hudi_compare(
    lake: str, listed: Sequence[HeardHudi], *, read_at: datetime, now: datetime
) -> tuple[int, int]:
    """Write what differs from our rows; returns how many changed and how many went."""
    seen = {(one.db, one.table) for one in listed}
    n_gone = 0
    # First what went: a table that was renamed leaves its place to the new name.
    for keys in unseen(HudiTable, lake, seen):
        n_gone += len(hudi_record_deleted(lake, keys, read_at=read_at, now=now).gone)
    n_changed = 0
    for start in range(0, len(listed), _CHUNK):
        some = listed[start : start + _CHUNK]
        n_changed += len(hudi_record_listed(lake, some, read_at=read_at, now=now).changed)
    return n_changed, n_gone


def _heard(row: Mapping[str, Any], said: Mapping[str, str]) -> HeardHudi | None:
    return hudi_table(
        (row["db"], row["tbl"]),
        {**said, PROVIDER: row["provider"] or ""},
        input_format=row["input_format"] or "",
        location=row["location"] or "",
        path=row["path"] or "",
        owner=row["owner"] or "",
    )
