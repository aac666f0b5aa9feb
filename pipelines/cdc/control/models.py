"""Pipelines, their tables and the schemas of these; the passwords stand in the environment."""

from typing import ClassVar

from django.db import models

from pipelines.cdc.control.domain.spec import (
    ChangelogKind,
    PipelineSpec,
    SourceKind,
    TableType,
    spec_of,
)
from pipelines.cdc.control.domain.states import (
    Desired,
    PipelineFacts,
    TableFacts,
    TableState,
    table_state,
)

SOURCE_NAME = 256
"""More than MySQL's 64 signs, so that none is cut."""


def _choices(
    of: type[Desired] | type[TableType] | type[ChangelogKind] | type[SourceKind],
) -> list[tuple[str, str]]:
    return [(one.value, one.value) for one in of]


class Pipeline(models.Model):
    """Changes of one MySQL server that go into one database of a lake."""

    name = models.CharField(max_length=32, unique=True)
    lake = models.CharField(max_length=32)
    kind = models.CharField(
        max_length=8, choices=_choices(SourceKind), default=SourceKind.MYSQL.value
    )
    host = models.CharField(max_length=253, blank=True, help_text="empty: topics")
    port = models.PositiveIntegerField()
    user = models.CharField(max_length=80)
    password_name = models.CharField(
        max_length=64, help_text="the environment variable LAKEWARDEN_CDC_PASSWORD_<this> has it"
    )
    ssl_ca = models.CharField(max_length=1024, blank=True)
    server_id = models.PositiveBigIntegerField()
    patterns = models.JSONField(help_text='["db.table"], with * for any signs')
    target_db = models.CharField(max_length=128)
    table_type = models.CharField(max_length=16, choices=_choices(TableType))
    changelog = models.CharField(max_length=16, choices=_choices(ChangelogKind))
    protections = models.JSONField(
        default=dict, help_text="db.table -> column -> protection, from when a table is first seen"
    )
    partitions = models.JSONField(
        default=dict, help_text="db.table -> column, from when a table is first seen"
    )
    kafka = models.JSONField(
        default=dict, blank=True, help_text="servers, topic and log-in; empty: no Kafka"
    )
    epoch = models.PositiveIntegerField(
        default=0, help_text="goes up when the source's log begins again"
    )
    desired = models.CharField(
        max_length=8, choices=_choices(Desired), default=Desired.RUNNING.value
    )
    desired_by = models.CharField(max_length=150)
    desired_at = models.DateTimeField()
    desired_reason = models.TextField(blank=True)
    version = models.PositiveIntegerField(default=0, help_text="how often it was changed")
    created_by = models.CharField(max_length=150)
    created_at = models.DateTimeField()
    heard_at = models.DateTimeField(null=True, help_text="when its capture last reported")
    position = models.CharField(max_length=300, blank=True, help_text="captured up to here")
    position_at = models.DateTimeField(
        null=True, help_text="when the source made what was captured last"
    )
    seconds_behind = models.FloatField(null=True)
    rows_per_second = models.FloatField(default=0)
    n_rows = models.BigIntegerField(default=0, help_text="changes captured since it began")
    batch = models.BigIntegerField(default=0, help_text="number of the changelog's last batch")
    applied_batch = models.BigIntegerField(default=0, help_text="that the apply read last")
    first_batch = models.BigIntegerField(
        default=1, help_text="that is needed: all tables were loaded after those before it"
    )
    problem_code = models.CharField(max_length=64, blank=True)
    problem = models.TextField(blank=True, help_text="why its capture stopped; empty: it did not")
    apply_problem = models.TextField(blank=True, help_text="why nothing is applied")
    columns = models.JSONField(default=list, blank=True, help_text="declared, of topics")
    n_behind = models.BigIntegerField(null=True, help_text="records of topics not read yet")
    n_unreadable = models.BigIntegerField(
        default=0, help_text="records in Kafka that are none, kept with their offsets"
    )

    class Meta:
        indexes: ClassVar = [models.Index(fields=["lake", "name"], name="cdc_pipeline_lake")]

    def __str__(self) -> str:
        return self.name

    @property
    def is_of_topics(self) -> bool:
        """Whether it reads topics of Kafka, without a capture."""
        return self.kind == SourceKind.TOPICS.value

    @property
    def lease_name(self) -> str:
        """The lease of the process that captures; its number fences those before it."""
        return f"cdc:{self.name}"

    @property
    def spec(self) -> PipelineSpec:
        """What it is meant to be."""
        return spec_of(vars(self))

    def facts(self, tables: tuple[TableState, ...]) -> PipelineFacts:
        """Return what its state follows from; `tables` are those of its tables."""
        return PipelineFacts(
            desired=Desired(self.desired),
            problem=self.problem or self.apply_problem,
            desired_at=self.desired_at,
            heard_at=self.heard_at,
            tables=tables,
        )


class CapturedTable(models.Model):
    """A table of a pipeline's source, and the lake's table that it goes to."""

    pipeline = models.ForeignKey(Pipeline, on_delete=models.CASCADE, related_name="tables")
    db = models.CharField(max_length=SOURCE_NAME)
    table = models.CharField(max_length=SOURCE_NAME)
    lake = models.CharField(max_length=32, help_text="its pipeline's")
    target_db = models.CharField(max_length=128, help_text="its pipeline's")
    target_table = models.CharField(max_length=128)
    location = models.TextField(blank=True, help_text="of the lake's table; empty until known")
    partition_column = models.CharField(max_length=SOURCE_NAME, blank=True)
    protections = models.JSONField(
        default=dict, help_text="column of its first schema -> protection; others are plain"
    )
    first_batch = models.BigIntegerField(
        default=1, help_text="that is needed: it is loaded again after those before it"
    )
    first_schema = models.PositiveIntegerField(
        default=1, help_text="with which the lake's table began; older ones are not applied"
    )
    retry = models.CharField(
        max_length=32, blank=True, help_text="a new text has the quarantine applied again"
    )
    key = models.JSONField(default=list, help_text="columns of its primary key")
    desired = models.CharField(
        max_length=8, choices=_choices(Desired), default=Desired.RUNNING.value
    )
    refused = models.TextField(blank=True, help_text="why it cannot be captured")
    schema_number = models.PositiveIntegerField(default=0, help_text="the newest that was captured")
    n_loaded = models.BigIntegerField(default=0)
    n_reloads = models.PositiveIntegerField(
        default=0, help_text="how often a full load was asked for again"
    )
    loaded_at = models.DateTimeField(null=True, help_text="when its full load was captured")
    problem_code = models.CharField(max_length=64, blank=True)
    problem = models.TextField(blank=True, help_text="why its changes are not applied")
    applied_batch = models.BigIntegerField(default=0)
    applied_position = models.CharField(max_length=300, blank=True)
    applied_at = models.DateTimeField(null=True, help_text="when a batch was last applied")
    data_at = models.DateTimeField(
        null=True, help_text="when the source made the newest change that is applied"
    )
    n_upserts = models.BigIntegerField(default=0)
    n_deletes = models.BigIntegerField(default=0)
    n_late = models.BigIntegerField(default=0, help_text="older than what was there: not written")
    n_quarantined = models.BigIntegerField(default=0, help_text="values did not fit their type")
    n_aside = models.BigIntegerField(default=0, help_text="kept until a schema is decided")
    kept = models.JSONField(
        default=dict, help_text="some of what is in quarantine, and how much is aside by column"
    )
    counted_run = models.CharField(
        max_length=64, blank=True, help_text="the program whose counts are in `counted`"
    )
    counted = models.JSONField(default=dict, help_text="its counts, as they are in the sums")
    lake_columns = models.JSONField(
        default=list, help_text="name and type of each column of the lake's table, as last told"
    )
    prepared = models.JSONField(
        default=list, help_text="columns that the lake's table got ahead of a change"
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["pipeline", "db", "table"], name="cdc_table_once"),
            models.UniqueConstraint(
                fields=["lake", "target_db", "target_table"], name="cdc_target_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.db}.{self.table}"

    @property
    def partitioning(self) -> list[str]:
        """Columns of the source by which the lake's table is partitioned: one, or none."""
        return [self.partition_column] if self.partition_column else []

    @property
    def target(self) -> str:
        """The lake's table."""
        return f"{self.target_db}.{self.target_table}"


class SchemaChange(models.Model):
    """A schema of a captured table, and what was decided of the change that led to it.

    The first schema of a table is a row too, which nobody has to decide.
    """

    captured = models.ForeignKey(CapturedTable, on_delete=models.CASCADE, related_name="schemas")
    number = models.PositiveIntegerField()
    first_version = models.BigIntegerField()
    columns = models.JSONField(help_text="columns as `TableSchema` has them")
    key = models.JSONField()
    ddl = models.TextField(blank=True)
    change_class = models.CharField(max_length=8, help_text="auto, person or refused")
    changes = models.JSONField(default=list, help_text="each single change: what, class, reason")
    decision = models.CharField(max_length=8, help_text="none, waiting, approved or refused")
    column_choices = models.JSONField(
        default=dict, help_text="new column -> refused, or a protection with which it is live"
    )
    seen_at = models.DateTimeField()
    decided_by = models.CharField(max_length=150, blank=True)
    decided_at = models.DateTimeField(null=True)
    decided_reason = models.TextField(blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["captured", "number"], name="cdc_schema_once")
        ]
        indexes: ClassVar = [models.Index(fields=["decision", "seen_at"], name="cdc_schema_open")]

    def __str__(self) -> str:
        return f"{self.captured}, schema {self.number}"

    @property
    def state(self) -> str:
        """What was decided of it, as pages show it."""
        return f"CDC_SCHEMA_{self.decision.upper()}"


class PipelineMinute(models.Model):
    """What a pipeline did in a minute, for the pictures of its page; kept for some days."""

    pipeline = models.ForeignKey(Pipeline, on_delete=models.CASCADE, related_name="minutes")
    minute = models.DateTimeField()
    n_rows = models.BigIntegerField(default=0, help_text="changes captured")
    batch = models.BigIntegerField(default=0, help_text="the changelog's last")
    capture_lag = models.FloatField(null=True, help_text="longest, in seconds behind the source")
    apply_lag = models.FloatField(
        null=True, help_text="longest, in seconds from the source's change to the lake"
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["pipeline", "minute"], name="cdc_minute_once")
        ]
        indexes: ClassVar = [models.Index(fields=["minute"], name="cdc_minute_age")]

    def __str__(self) -> str:
        return f"{self.pipeline_id} at {self.minute}"


def state_of_table(row: CapturedTable, *, is_held: bool) -> TableState:
    """Return a table's state; `is_held` tells whether one of its schemas waits for a person."""
    return table_state(
        TableFacts(
            desired=Desired(row.desired),
            refused=row.refused,
            problem=row.problem,
            is_held=is_held,
            is_loaded=row.loaded_at is not None,
            applied_at=row.applied_at,
        )
    )
