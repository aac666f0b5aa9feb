"""Says up to which moment a captured table has what its source had.

The moment is one of the source's commits, so a transaction that was begun before it and committed
after it is not in the table yet.
"""

from datetime import datetime, timedelta

from pipelines.models import CapturedTable
from portal.catalog.services.watermarks import Watermark, register_watermarks
from portal.lake.names import TableName

_LOADING = "its full load is not over"
_WAITS = "records of it wait"
_NOTHING = "nothing of it is applied yet"


def register() -> None:
    """Have captured tables asked about."""
    register_watermarks("pipelines.cdc", table_watermark)


def table_watermark(table: TableName) -> Watermark | None:
    """Return the watermark of a table of the lake; None where nothing is captured into it."""
    rows = CapturedTable.objects.filter(
        lake=str(table.lake), target_db=table.db, target_table=table.table
    )
    row = rows.select_related("pipeline").first()
    if row is None:
        return None
    reason = _reason(row)
    at = None if reason else _moment(row)
    return Watermark(table, at, reason or ("" if at else _NOTHING))


def _reason(row: CapturedTable) -> str:
    if row.refused:
        return row.refused
    if row.loaded_at is None:
        return _LOADING
    return _WAITS if row.n_aside else ""


def _moment(row: CapturedTable) -> datetime | None:
    """A batch has everything up to the moment at which its capture read the source's log."""
    pipeline = row.pipeline
    if row.applied_batch >= pipeline.batch > 0:
        return pipeline.position_at
    minutes = pipeline.minutes.filter(batch__gt=0, batch__lte=row.applied_batch)
    last = minutes.order_by("-minute").first()
    if last is None:
        return None
    behind: datetime = last.minute - timedelta(seconds=last.capture_lag or 0)
    return behind
