"""Iceberg tables as they are known here, their commits, and what was written in which order."""

from typing import ClassVar

from django.db import models

from optimizer.core.domain.tasks import DESTRUCTIVE, TaskKind
from optimizer.core.models import MaintainedTable


class IcebergTable(MaintainedTable):
    """One table as the metastore last told of it; counts are those of its current snapshot.

    A name may come to mean another table: `uuid` tells which one this is.
    """

    table_format = "iceberg"
    task_kinds = tuple(map(str, TaskKind))
    listed_kinds = tuple(sorted(map(str, DESTRUCTIVE)))

    uuid = models.CharField(max_length=36)
    location = models.TextField(blank=True)
    metadata_location = models.TextField(blank=True)
    snapshot_id = models.BigIntegerField(null=True, help_text="null: an empty table")
    format_version = models.PositiveSmallIntegerField(null=True)
    committed_at = models.DateTimeField(null=True, help_text="when its snapshot was committed")

    # From the snapshot's own summary, without reading any file; null where it says nothing.
    n_files = models.BigIntegerField(null=True)
    n_bytes = models.BigIntegerField(null=True)
    n_rows = models.BigIntegerField(null=True)
    n_delete_files = models.BigIntegerField(null=True)

    # What the last look at the table's metadata found.
    looked_snapshot_id = models.BigIntegerField(null=True)
    inspect_due_at = models.DateTimeField(
        null=True, help_text="null: nothing new since the last inspection"
    )
    n_manifests = models.BigIntegerField(null=True)
    n_snapshots = models.BigIntegerField(null=True)
    n_partitions = models.BigIntegerField(null=True)
    columns = models.JSONField(default=dict, help_text="name -> type, top level only")
    partition_spec = models.TextField(blank=True)
    small_bytes = models.BigIntegerField(null=True)
    n_small = models.BigIntegerField(null=True)

    uses_outside = models.BooleanField(
        default=False,
        help_text="an inspection found files outside of its own places: another table's, perhaps",
    )

    # What was decided last.
    score = models.FloatField(null=True, help_text="gain over cost; the queue's order")
    waits_since = models.DateTimeField(
        null=True, help_text="since when some of it is left for later because of other writers"
    )
    decide_again_at = models.DateTimeField(
        null=True, help_text="when the first of that can be removed"
    )

    advice_looked_at = models.DateTimeField(
        null=True, help_text="when its recorded scans were last looked at"
    )
    unused_looked_at = models.DateTimeField(
        null=True, help_text="when it was last looked for what nobody uses"
    )
    advice_note = models.TextField(blank=True, help_text="what came of that, in words")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["lake", "db", "table", "uuid"], name="optimizer_once")
        ]
        indexes: ClassVar = [
            models.Index(fields=["lake", "is_deleted", "health"], name="optimizer_by_health"),
            models.Index(fields=["inspect_due_at"], name="optimizer_look_due"),
        ]

    @property
    def identity(self) -> dict[str, str]:
        """What tells it from another table of its name, as the audit log keeps it."""
        return {"uuid": self.uuid}


class Commit(models.Model):
    """One snapshot that became a table's current one, as its summary tells."""

    table = models.ForeignKey(IcebergTable, on_delete=models.CASCADE, related_name="commits")
    snapshot_id = models.BigIntegerField()
    parent_id = models.BigIntegerField(null=True)
    sequence = models.BigIntegerField(null=True)
    at = models.DateTimeField()
    event_at = models.DateTimeField()
    operation = models.CharField(max_length=16, blank=True, help_text="empty where not told")
    is_ours = models.BooleanField(default=False)
    n_added = models.BigIntegerField(default=0)
    n_removed = models.BigIntegerField(default=0)
    bytes_added = models.BigIntegerField(default=0)
    bytes_removed = models.BigIntegerField(default=0)
    n_deletes_added = models.BigIntegerField(default=0)
    n_changed_partitions = models.BigIntegerField(null=True)
    source = models.CharField(max_length=8, help_text="event, poll, report or look")
    report = models.JSONField(default=dict, help_text="a writer's own report: attempts, duration")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["table", "snapshot_id"], name="optimizer_commit_once")
        ]
        indexes: ClassVar = [
            models.Index(fields=["table", "at"], name="optimizer_commit_at"),
            # Of the whole lake the oldest are forgotten.
            models.Index(fields=["at"], name="optimizer_commit_old"),
            # Looked up by its id alone by the search.
            models.Index(fields=["snapshot_id"], name="optimizer_commit_snapshot"),
        ]

    def __str__(self) -> str:
        return f"{self.operation or 'commit'} {self.snapshot_id}"


class LayoutWrite(models.Model):
    """How every file of one write of ours is laid out; the files' names hold `write_id`.

    Kept by the write and not by the snapshot, because snapshots expire and files stay.
    """

    table = models.ForeignKey(IcebergTable, on_delete=models.CASCADE, related_name="layouts")
    write_id = models.CharField(max_length=64)
    layout = models.TextField(help_text="hilbert(a,b), or empty for a plain bin-pack")
    boundaries = models.JSONField(null=True, help_text="what the ids of its columns were cut at")
    partition = models.TextField(blank=True)
    snapshot_id = models.BigIntegerField()
    at = models.DateTimeField()
    searched_at = models.DateTimeField(
        null=True, help_text="when an inspection last searched for files of it"
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["table", "write_id"], name="optimizer_layout_once")
        ]

    def __str__(self) -> str:
        return f"{self.layout or 'bin-pack'} {self.write_id}"


class ScanFilter(models.Model):
    """How often one column was filtered in one way on one day, as engines reported their scans.

    Without column and kind it is all scans of the day, also those without a filter.
    """

    table = models.ForeignKey(IcebergTable, on_delete=models.CASCADE, related_name="scan_filters")
    column = models.CharField(max_length=512, blank=True)
    kind = models.CharField(max_length=8, blank=True)
    day = models.DateField(help_text="in UTC, when the report came")
    n_scans = models.BigIntegerField(default=0)
    n_files = models.BigIntegerField(default=0, help_text="data files left to read")
    n_skipped = models.BigIntegerField(default=0, help_text="data files left out by planning")
    n_bytes = models.BigIntegerField(default=0, help_text="bytes of the files left to read")
    last_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["table", "day", "column", "kind"], name="optimizer_scan_filter_once"
            )
        ]
        # All scans of a week, whatever the table: which tables plan most.
        indexes: ClassVar = [models.Index(fields=["column", "day"], name="optimizer_scans_by_day")]

    def __str__(self) -> str:
        return f"{self.column or 'all scans'} {self.kind} {self.day}"


class ScanShape(models.Model):
    """How often scans of one day filtered a table in just this way: columns with their kinds.

    What a layout would save depends on which filters come together.
    """

    table = models.ForeignKey(IcebergTable, on_delete=models.CASCADE, related_name="scan_shapes")
    digest = models.CharField(max_length=32, help_text="of the filters")
    filters = models.JSONField(default=list, help_text="[column, kind] in order; empty: no filter")
    day = models.DateField(help_text="in UTC, when the report came")
    n_scans = models.BigIntegerField(default=0)
    n_files = models.BigIntegerField(default=0, help_text="data files left to read")
    n_bytes = models.BigIntegerField(default=0, help_text="bytes of the files left to read")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["table", "day", "digest"], name="optimizer_scan_shape_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.filters} {self.day}"
