"""Reads how far a table is indexed, from what its finished tasks said."""

from collections.abc import Sequence

from optimizer.core.domain.tasks import REWRITES, TaskKind, TaskState
from optimizer.iceberg.indexing.domain.wanted import INDEXED_AT, INDEXED_FOR, WantedIndex, mark_of
from optimizer.models import IcebergTable

_LATEST = 10


def index_state(row: IcebergTable, wanted: Sequence[WantedIndex]) -> dict[str, bool]:
    """Return whether the snapshot of the last look has all indexes, and whether an earlier one had.

    Nothing is asked of tables whose policy names no column.
    """
    if not wanted:
        return {}
    ended = row.tasks.filter(kind__in=[*REWRITES, TaskKind.INDEX], ended_at__isnull=False)
    worked = ended.filter(state__in=[TaskState.DONE, TaskState.PARTIAL, TaskState.NOTHING])
    afters = worked.order_by("-ended_at").values_list("after", flat=True)[:_LATEST]
    known = [after for after in afters if after.get(INDEXED_FOR) == mark_of(wanted)]
    return {
        "is_indexed": any(one[INDEXED_AT] == row.looked_snapshot_id for one in known),
        "was_indexed": bool(known),
    }
