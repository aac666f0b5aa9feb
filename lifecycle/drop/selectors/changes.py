"""The partition ranges of a drop plan's table, which reviewers unfold."""

from collections.abc import Sequence

from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.inventory.models.findings import PartitionRange
from lifecycle.inventory.selectors.findings import scanned_ranges
from lifecycle.models import DropPlanTable
from portal.approvals.changes import RANGES_SHOWN

_DUE = (ExpiryClass.CLEAN_NOW, ExpiryClass.STILL_READ)


def due_ranges(row: DropPlanTable) -> Sequence[PartitionRange]:
    """Return the partition ranges of a plan's table that the plan's scan saw due, by name.

    One query. None where the scan's result has been removed, or the table has no partitions.
    """
    rows = scanned_ranges(row.plan.generation_id, row.db, row.table)
    return list(rows.filter(table__tbl_id=row.tbl_id, cls__in=_DUE)[:RANGES_SHOWN])
