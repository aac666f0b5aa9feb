"""Which queries were counted already, and how many each engine told of by day."""

from typing import ClassVar

from django.db import models


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
    n_scans = models.BigIntegerField(default=0, help_text="of known tables, added to their sums")
    n_unknown = models.BigIntegerField(default=0, help_text="scans of tables that are not known")
    n_failed = models.BigIntegerField(default=0, help_text="queries that failed: not read further")
    n_unread = models.BigIntegerField(default=0, help_text="queries whose plan could not be read")
    n_repeated = models.BigIntegerField(default=0, help_text="events that came again")
    unread = models.CharField(max_length=1000, blank=True, help_text="why, of the last unread one")
    last_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["lake", "engine", "day"], name="optimizer_query_day_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.engine} {self.day}"


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
