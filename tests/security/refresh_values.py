"""What an address of the refresh room can name: tables of alice in sales, a statement on one."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from refresh.models import RefreshTarget, WatchedTable
from tests.component.refresh.refresh_rows import cluster
from tests.component.refresh.refresh_tables import statement


def refresh_values(now: datetime) -> Mapping[str, Any]:
    """Make a cluster, a table, one that is opted out, and a statement; gives their ids."""
    row = cluster()
    made = []
    for table, is_opted_out in (("orders", False), ("off", True)):
        watched = WatchedTable.objects.create(
            lake="main",
            db="sales",
            table=table,
            owner="alice",
            tracked_since=now,
            changed_at=now,
            is_opted_out=is_opted_out,
            opted_out_by="otto" if is_opted_out else "",
        )
        made.append(
            RefreshTarget.objects.create(
                cluster=row, catalog="hive", db="sales", table=table, watched=watched
            )
        )
    orders, off = made
    return {
        "target_id": orders.pk,
        "off_target_id": off.pk,
        "statement_id": statement(orders, began=now).public_id,
    }
