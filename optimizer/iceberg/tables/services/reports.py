"""Stores a writer's report with its commit, whether the commit's event is in or not yet."""

from datetime import datetime

from django.db import transaction
from django.db.models.functions import Coalesce

from optimizer.iceberg.tables.domain.reports import CommitReport
from optimizer.models import Commit, IcebergTable
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.access.visibility import visible_to
from portal.lake.errors import NotVisible


def table_of_report(lake: str, db: str, table: str, *, user: User) -> IcebergTable:
    """Return the table that a report is about.

    Raises:
        NotVisible: `lake.unknown`, or `optimizer.table` where the person sees none of this name.
    """
    get_lake(lake)
    rows = IcebergTable.objects.filter(visible_to(user), lake=lake, db=db, table=table)
    row = rows.filter(is_deleted=False).order_by("-pk").first()
    if row is None:
        raise NotVisible(
            "optimizer.table",
            f"No Iceberg table {db}.{table} is known in {lake}, or it is none of yours. A new one "
            "is known some seconds after it was made; check the names in the address.",
        )
    return row


def commit_report(row: IcebergTable, report: CommitReport, *, now: datetime) -> Commit:
    """Keep a report with its commit and make a look due; said twice it changes nothing more."""
    with transaction.atomic():
        IcebergTable.objects.filter(pk=row.pk).update(
            inspect_due_at=Coalesce("inspect_due_at", now)
        )
        commit, _ = Commit.objects.select_for_update().get_or_create(
            table=row,
            snapshot_id=report.snapshot_id,
            defaults={
                "at": now,
                "event_at": now,
                "source": "report",
                "n_added": report.count("added-data-files"),
                "n_removed": report.count("removed-data-files"),
                "bytes_added": report.count("added-files-size-bytes"),
                "bytes_removed": report.count("removed-files-size-bytes"),
                "n_deletes_added": report.count("added-delete-files"),
            },
        )
        commit.report = report.as_dict
        commit.operation = report.operation or commit.operation
        commit.sequence = commit.sequence if report.sequence is None else report.sequence
        commit.save(update_fields=["report", "operation", "sequence"])
    return commit
