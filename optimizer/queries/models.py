"""Which queries were counted already, how many each engine told of, and what they group by."""

from typing import ClassVar

from django.db import models

from optimizer.hudi.tables.models import HudiTable
from optimizer.iceberg.tables.models import IcebergTable


class RecordedQuery(models.Model):
    """A query that was counted, for two days: an engine sends an event again when in doubt."""

    lake = models.CharField(max_length=64)
    user = models.CharField(max_length=150, help_text="whose token told of it")
    query_id = models.CharField(max_length=100, help_text="the engine's own")
    at = models.DateTimeField(db_index=True)

    class Meta:
        verbose_name_plural = "recorded queries"
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["query_id", "lake", "user"], name="optimizer_query_once"
            )
        ]

    def __str__(self) -> str:
        return self.query_id


class QueryDay(models.Model):
    """What an engine told of the queries of one day."""

    lake = models.CharField(max_length=64)
    engine = models.CharField(max_length=16)
    day = models.DateField(help_text="in UTC, when the event came")
    n_queries = models.BigIntegerField(default=0, help_text="completed, each once")
    n_scans = models.BigIntegerField(default=0, help_text="of known tables")
    n_unknown = models.BigIntegerField(default=0, help_text="scans of tables that are not known")
    n_failed = models.BigIntegerField(default=0, help_text="queries that failed: not read further")
    n_unread = models.BigIntegerField(default=0, help_text="queries whose plan could not be read")
    n_repeated = models.BigIntegerField(default=0, help_text="events that came again")
    n_dropped = models.BigIntegerField(default=0, help_text="that the engine had no room to keep")
    n_not_kept = models.BigIntegerField(
        default=0, help_text="queries for which there was no room on the portal's disk"
    )
    unread = models.CharField(max_length=1000, blank=True, help_text="why, of the last unread one")
    n_unparsed = models.BigIntegerField(
        default=0, help_text="queries of whose text groups and aggregates could not be read"
    )
    unparsed = models.CharField(max_length=1000, blank=True, help_text="why, of the last such one")
    last_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["lake", "engine", "day"], name="optimizer_query_day_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.engine} {self.day}"


class GroupingSum(models.Model):
    """What queries of one day grouped a fact table by, and aggregated; without any constant.

    Of a table and day a fixed number of groupings are told apart. What comes beyond is summed in
    one row without a digest. Each table format has a model of its own, whose `table` is the fact.
    """

    digest = models.CharField(max_length=32, blank=True, help_text="of all that follows")
    dimensions = models.JSONField(
        default=list, help_text="columns, those of joined tables with the keys that lead to them"
    )
    measures = models.JSONField(default=list, help_text="function(column), in order")
    joins = models.JSONField(default=list, help_text="keys that lead to each joined table")
    refused = models.CharField(
        max_length=200, blank=True, help_text="why no cube could answer it; empty where one could"
    )
    day = models.DateField(help_text="in UTC, when the query was told of")
    n_queries = models.BigIntegerField(default=0)
    n_bytes = models.BigIntegerField(default=0, help_text="of the table, as its scans count them")
    seconds = models.FloatField(default=0, help_text="of the whole queries, where they are known")
    last_at = models.DateTimeField()
    shape = models.TextField(blank=True, help_text="of one such query, without its constants")
    tables = models.JSONField(default=list, help_text="all that the shape names, as db.table")

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{', '.join(self.dimensions) or 'all rows'} {self.day}"


class QueryGrouping(GroupingSum):
    """Groupings of an Iceberg table."""

    table = models.ForeignKey(IcebergTable, on_delete=models.CASCADE, related_name="groupings")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["table", "day", "digest"], name="optimizer_grouping_once"
            )
        ]


class HudiGrouping(GroupingSum):
    """Groupings of a Hudi table."""

    table = models.ForeignKey(HudiTable, on_delete=models.CASCADE, related_name="groupings")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["table", "day", "digest"], name="optimizer_hudi_grouping_once"
            )
        ]


class QuerySeconds(models.Model):
    """How long the queries of an engine took on one day, as a histogram."""

    lake = models.CharField(max_length=64)
    engine = models.CharField(max_length=16)
    day = models.DateField(help_text="in UTC, when the event came")
    counts = models.JSONField(default=dict, help_text="bucket (queries.domain.latency) -> queries")

    class Meta:
        verbose_name_plural = "query seconds"
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["lake", "engine", "day"], name="optimizer_query_seconds_once"
            )
        ]

    def __str__(self) -> str:
        return f"seconds of {self.engine} {self.day}"


class TopShape(models.Model):
    """One of the shapes of queries that cost most in four weeks, as the last analysis found it."""

    lake = models.CharField(max_length=64)
    digest = models.CharField(max_length=32)
    engine = models.CharField(max_length=16)
    text = models.TextField(blank=True, help_text="without constants")
    is_parsed = models.BooleanField(help_text="false: only its words were read")
    names_all_tables = models.BooleanField(
        help_text="whether all that it reads is known; else admins and operators alone see it"
    )
    n_queries = models.BigIntegerField()
    n_failed = models.BigIntegerField()
    seconds = models.FloatField(help_text="of all its queries together")
    seconds_lately = models.FloatField(help_text="in the last 14 days")
    seconds_before = models.FloatField(help_text="in the 14 days before them")
    p50 = models.FloatField(null=True, help_text="seconds of the middle one of its queries")
    p95 = models.FloatField(null=True, help_text="seconds that 95 of 100 of its queries took")
    n_bytes = models.BigIntegerField(help_text="read by all its queries together")
    share = models.FloatField(null=True, help_text="rows that were read, of those of its tables")
    is_helped = models.BooleanField(null=True, help_text="false: nothing narrows what it reads")
    days = models.JSONField(default=list, help_text="queries, seconds and bytes by day")
    last_at = models.DateTimeField()
    analysed_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["lake", "digest"], name="optimizer_top_shape_once")
        ]
        indexes: ClassVar = [
            models.Index(fields=["lake", "seconds"], name="optimizer_shape_seconds"),
            models.Index(fields=["lake", "n_queries"], name="optimizer_shape_queries"),
            models.Index(fields=["lake", "n_bytes"], name="optimizer_shape_bytes"),
        ]

    def __str__(self) -> str:
        return self.digest

    @property
    def share_percent(self) -> float | None:
        """How much of its tables' rows it reads."""
        return None if self.share is None else 100 * self.share

    @property
    def change_percent(self) -> float | None:
        """How much more or less time it took than in the two weeks before; None: it is new."""
        if not self.seconds_before:
            return None
        return 100 * (self.seconds_lately - self.seconds_before) / self.seconds_before


class TopShapeTable(models.Model):
    """A table that such a shape reads."""

    shape = models.ForeignKey(TopShape, on_delete=models.CASCADE, related_name="tables")
    db = models.CharField(max_length=128)
    table = models.CharField(max_length=512)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["shape", "db", "table"], name="optimizer_shape_table_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.db}.{self.table}"
