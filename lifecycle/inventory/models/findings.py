"""What the last scans saw: generations of databases, tables, path findings, items and trends.

Rows are written under a generation and never changed afterwards; `CurrentGeneration` names the one
that readers see. Item detail beyond the examples stays in the generation's Parquet results.
"""

from enum import StrEnum
from functools import partial

from django.db import models
from django.db.models import Subquery

from lifecycle.inventory.domain.due_totals import Due
from portal.access import visibility
from portal.access.models import User

EXAMPLES_PER_CLASS = 1_000


class GenerationState(StrEnum):
    """How far the rows of one scan have come."""

    LOADING = "LOADING"
    READY = "READY"
    TRIMMED = "TRIMMED"


class FindingKind(StrEnum):
    """What a nonconforming path belongs to."""

    DATABASE = "DATABASE"
    TABLE = "TABLE"
    PARTITION = "PARTITION"


# Rows of findings name the owner of their table and that of its database: either may see them.
visible_to = partial(visibility.visible_to, owners=("owner", "db_owner"))


class FindingQuerySet(models.QuerySet):  # type: ignore[type-arg]  # one class serves several models
    """Rows of findings, narrowed to a person and to the picture that readers see."""

    prefix = ""

    def for_user(self, user: User, *, of_lake: str = "") -> "FindingQuerySet":
        """Keep the rows that `user` may see; of one lake where it is named."""
        return self.filter(visible_to(user, prefix=self.prefix, of_lake=of_lake))

    def current(self, lake: str) -> "FindingQuerySet":
        """Keep the rows of the lake's last whole picture; none before the first scan."""
        pointer = LatestScan.objects.filter(lake=lake).values("generation_id")
        # One value and not a list of them, so that an index on it keeps its order.
        return self.filter(**{f"{self.prefix}generation_id": Subquery(pointer[:1])})


class TableRowQuerySet(FindingQuerySet):
    """Rows that hang on a table finding and take their visibility from it."""

    prefix = "table__"


class ScanSnapshot(models.Model):
    """One scan's picture of the lake."""

    lake = models.CharField(max_length=32)
    run = models.OneToOneField("runs.Run", on_delete=models.PROTECT, related_name="+")
    state = models.CharField(
        max_length=8,
        choices=[(state.value, state.value) for state in GenerationState],
        default=GenerationState.LOADING.value,
    )
    day = models.DateField()
    as_of = models.DateTimeField(help_text="The instant that due dates were judged against.")
    read_at = models.DateTimeField(help_text="Wall clock when the metastore was read.")
    notification_id = models.BigIntegerField()
    totals = models.JSONField(default=dict)
    results_uri = models.CharField(max_length=1024)

    class Meta:
        indexes = [models.Index(fields=["lake", "-id"], name="generation_lake_newest")]

    def __str__(self) -> str:
        return f"{self.lake} {self.day} #{self.pk}"


class LatestScan(models.Model):
    """Which generation readers of a lake see; moved last, so they always see a whole picture."""

    lake = models.CharField(max_length=32, unique=True)
    generation = models.OneToOneField(ScanSnapshot, on_delete=models.PROTECT, related_name="+")

    def __str__(self) -> str:
        return f"{self.lake} -> {self.generation_id}"


class DatabaseFinding(models.Model):
    """A database as a scan saw it."""

    generation = models.ForeignKey(ScanSnapshot, on_delete=models.CASCADE, related_name="+")
    lake = models.CharField(max_length=32)
    db = models.CharField(max_length=128)
    owner = models.CharField(max_length=128, blank=True)
    db_owner = models.CharField(max_length=128, blank=True)
    location = models.CharField(max_length=4000)
    mode = models.CharField(max_length=8)
    reasons = models.JSONField(default=list)
    n_tables = models.IntegerField(default=0)
    n_partitions = models.BigIntegerField(default=0)
    n_clean_now = models.BigIntegerField(default=0)
    n_soon = models.BigIntegerField(default=0)
    bytes_clean_now = models.BigIntegerField(default=0)
    bytes_soon = models.BigIntegerField(default=0)

    objects = FindingQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["generation", "db"], name="database_finding_once")
        ]
        indexes = [
            models.Index(
                fields=["generation", "bytes_clean_now", "id"], name="database_finding_bytes"
            ),
            models.Index(fields=["generation", "owner", "db"], name="database_finding_owner"),
            # A unique index gives MariaDB no order that ends with the id.
            models.Index(fields=["generation", "db", "id"], name="database_finding_name"),
            models.Index(fields=["generation", "db_owner"], name="database_finding_db_owner"),
        ]

    def __str__(self) -> str:
        return self.db


class TableFinding(models.Model):
    """A table as a scan saw it, with how many of its items stand in each class."""

    generation = models.ForeignKey(ScanSnapshot, on_delete=models.CASCADE, related_name="+")
    lake = models.CharField(max_length=32)
    db = models.CharField(max_length=128)
    table = models.CharField(max_length=256)
    tbl_id = models.BigIntegerField()
    owner = models.CharField(max_length=128, blank=True)
    db_owner = models.CharField(max_length=128, blank=True)
    mode = models.CharField(max_length=8)
    table_type = models.CharField(max_length=32)
    format = models.CharField(max_length=64, blank=True)
    location = models.CharField(max_length=4000, blank=True)
    level = models.IntegerField(null=True)
    ttl = models.IntegerField(null=True)
    policy_source = models.CharField(max_length=64, blank=True)
    enrolled = models.BooleanField(default=False)
    reasons = models.JSONField(default=list)
    unsupported_reason = models.TextField(blank=True)
    n_partitions = models.BigIntegerField(default=0)
    n_files = models.BigIntegerField(null=True)
    n_bytes = models.BigIntegerField(null=True)
    n_clean_now = models.BigIntegerField(default=0)
    n_soon = models.BigIntegerField(default=0)
    n_not_now = models.BigIntegerField(default=0)
    n_still_read = models.BigIntegerField(default=0)
    n_held = models.BigIntegerField(default=0)
    n_not_enrolled = models.BigIntegerField(default=0)
    n_unsupported = models.BigIntegerField(default=0)
    n_nonconforming = models.BigIntegerField(default=0)
    n_unready = models.BigIntegerField(default=0)
    n_keep_forever = models.BigIntegerField(default=0)
    n_missing_directory = models.BigIntegerField(default=0)
    n_unknown = models.BigIntegerField(default=0)
    bytes_clean_now = models.BigIntegerField(default=0)
    bytes_soon = models.BigIntegerField(default=0)
    bytes_still_read = models.BigIntegerField(default=0)
    class_bytes = models.JSONField(default=dict)
    oldest_updated_at = models.DateTimeField(null=True)
    newest_updated_at = models.DateTimeField(null=True)
    next_due_on = models.DateField(null=True)
    window_due_last_on = models.DateField(
        null=True, help_text="Latest due day of the items that are due now or soon."
    )
    window_created_at = models.DateTimeField(null=True, help_text="Newest creation among them.")
    window_updated_at = models.DateTimeField(null=True, help_text="Newest update among them.")

    # Not stored: what a reader took off the counts because it was dropped since the scan.
    dropped = Due()

    objects = FindingQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["generation", "db", "table"], name="table_finding_once")
        ]
        indexes = [
            models.Index(fields=["generation", "bytes_clean_now", "id"], name="table_finding_size"),
            models.Index(fields=["generation", "n_bytes", "id"], name="table_finding_largest"),
            models.Index(fields=["generation", "db", "table", "id"], name="table_finding_name"),
            models.Index(
                fields=["generation", "owner", "db", "table"], name="table_finding_by_owner"
            ),
            models.Index(fields=["generation", "db_owner"], name="table_finding_db_owner"),
            models.Index(fields=["generation", "next_due_on"], name="table_finding_due"),
        ]

    def __str__(self) -> str:
        return f"{self.db}.{self.table}"


class PathFinding(models.Model):
    """A path that breaks the rules, with the reasons that count and a hint.

    Partitions are kept up to `EXAMPLES_PER_CLASS` a table; the table's own row has the whole count.
    """

    generation = models.ForeignKey(ScanSnapshot, on_delete=models.CASCADE, related_name="+")
    lake = models.CharField(max_length=32)
    kind = models.CharField(
        max_length=9, choices=[(kind.value, kind.value) for kind in FindingKind]
    )
    db = models.CharField(max_length=128)
    table = models.CharField(max_length=256, blank=True)
    partition = models.CharField(max_length=767, blank=True)
    owner = models.CharField(max_length=128, blank=True)
    db_owner = models.CharField(max_length=128, blank=True)
    location = models.CharField(max_length=4000, blank=True)
    reasons = models.JSONField(default=list)
    reason_key = models.CharField(
        max_length=255,
        help_text="The reasons between bars, so that one can be searched anywhere.",
    )
    related = models.JSONField(default=list)
    hint = models.TextField(blank=True)
    waived = models.JSONField(
        default=list, help_text="The rules it breaks that exceptions silence."
    )
    excepted_until = models.DateField(null=True, help_text="The last day of the first to end.")
    is_excepted = models.BooleanField(default=False, help_text="Every rule it breaks is waived.")

    objects = FindingQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(
                fields=["generation", "is_excepted", "db", "table"], name="path_finding_waived"
            ),
            models.Index(fields=["generation", "db", "table"], name="path_finding_name"),
            models.Index(
                fields=["generation", "owner", "db", "table"], name="path_finding_by_owner"
            ),
            models.Index(fields=["generation", "db_owner"], name="path_finding_db_owner"),
        ]

    def __str__(self) -> str:
        return "/".join(part for part in (self.db, self.table, self.partition) if part)

    @property
    def state(self) -> str:
        """Whether it counts as conforming by exceptions alone."""
        return "WAIVED" if self.is_excepted else "NONCONFORMING"

    @property
    def broken(self) -> list[str]:
        """The rules that it breaks: those that count, or all the waived ones."""
        return list(self.waived if self.is_excepted else self.reasons)


class PartitionRange(models.Model):
    """A contiguous run of partitions (by name) of one table that stand in the same class."""

    # The indexes below begin with them, and a million rows are written a day.
    table = models.ForeignKey(
        TableFinding, on_delete=models.CASCADE, related_name="ranges", db_index=False
    )
    generation = models.ForeignKey(
        ScanSnapshot, null=True, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    cls = models.CharField(max_length=20)
    first = models.CharField(max_length=767, blank=True)
    last = models.CharField(max_length=767, blank=True)
    n_items = models.BigIntegerField()
    n_bytes = models.BigIntegerField(null=True)
    due_first = models.DateField(null=True)
    due_last = models.DateField(null=True)

    objects = TableRowQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["table", "cls", "id"], name="item_range_class"),
            models.Index(fields=["generation", "due_first"], name="item_range_due"),
        ]

    def __str__(self) -> str:
        return f"{self.cls} {self.first} .. {self.last}"


class SamplePartition(models.Model):
    """One partition (or unpartitioned table) with both clocks and the reason for its class."""

    # The indexes below begin with it, and a million rows are written a day.
    table = models.ForeignKey(
        TableFinding, on_delete=models.CASCADE, related_name="examples", db_index=False
    )
    part_id = models.BigIntegerField()
    partition = models.CharField(max_length=767, blank=True)
    location = models.CharField(max_length=4000)
    cls = models.CharField(max_length=20)
    reason = models.TextField(blank=True)
    level = models.IntegerField(null=True)
    ttl = models.IntegerField(null=True)
    policy_source = models.CharField(max_length=64, blank=True)
    ddl_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(null=True)
    modified_at = models.DateTimeField(null=True, help_text="Newest mtime of the files.")
    read_at = models.DateTimeField(null=True, help_text="Newest access time; unknown if null.")
    updated_at = models.DateTimeField(null=True)
    winner = models.CharField(max_length=8, blank=True)
    due_at = models.DateTimeField(null=True)
    due_on = models.DateField(null=True)
    n_files = models.BigIntegerField(null=True)
    n_bytes = models.BigIntegerField(null=True)
    ready = models.BooleanField(default=True)

    objects = TableRowQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["table", "cls", "due_on", "id"], name="item_example_due"),
            models.Index(fields=["table", "due_on"], name="item_example_by_day"),
        ]

    def __str__(self) -> str:
        return self.partition or "(whole table)"


class TrendPoint(models.Model):
    """One number of one day, written by the scan so that no page has to count."""

    lake = models.CharField(max_length=32)
    day = models.DateField()
    metric = models.CharField(max_length=64)
    value = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["lake", "metric", "day"], name="trend_point_once")
        ]

    def __str__(self) -> str:
        return f"{self.metric} {self.day} = {self.value}"
