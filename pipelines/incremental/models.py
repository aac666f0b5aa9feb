"""Layers, the tables that each reads, and what each advance did."""

from datetime import timedelta
from typing import ClassVar
from uuid import uuid4

import msgspec
from django.db import models
from django.utils import timezone

from pipelines.commits.domain.holds import Hold, hold_of
from pipelines.incremental.domain.definitions import Layer as Definition
from pipelines.incremental.domain.definitions import read_layer
from pipelines.incremental.domain.messages import Field
from pipelines.incremental.domain.states import (
    Facts,
    lag,
    layer_state,
    schema_words,
)
from portal.approvals.models import Effect, Proposal
from portal.lake.ids import LakeId
from portal.lake.names import TableName

EVERY_MINUTES = 15
PAUSE_MINUTES = 5


class Layer(models.Model):
    """A table that is kept from the changes of another one; `db` and `table` are the target."""

    lake = models.CharField(max_length=32)
    db = models.CharField(max_length=128)
    table = models.CharField(max_length=256)
    identity = models.UUIDField(default=uuid4, help_text="in the table's commits: whose it is")
    definition = models.JSONField()
    version = models.PositiveIntegerField(default=1)
    location = models.TextField()
    every_minutes = models.PositiveIntegerField(default=EVERY_MINUTES)
    on_commit = models.BooleanField(default=True, help_text="also after a commit of its source")
    pause_minutes = models.PositiveIntegerField(
        default=PAUSE_MINUTES, help_text="commits advance it at most so often"
    )
    earliest_at = models.DateTimeField(null=True, help_text="no commit advances it before")
    next_at = models.DateTimeField(help_text="when it is advanced next")
    is_paused = models.BooleanField(default=False)
    pause_reason = models.TextField(blank=True)
    full_reason = models.TextField(blank=True, help_text="why all rows are read the next time")
    owner = models.CharField(
        max_length=150, help_text="by whose right to rows it reads: who set the definition"
    )
    set_by = models.CharField(max_length=150)
    set_at = models.DateTimeField()
    advanced_at = models.DateTimeField(null=True, help_text="when it last had all of its source")
    heard_at = models.DateTimeField(null=True, help_text="when a run last said something of it")
    problem = models.TextField(blank=True)
    problem_code = models.CharField(max_length=64, blank=True)
    watermark = models.DateTimeField(null=True)
    watermark_reason = models.TextField(blank=True, help_text="why it is not known")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["lake", "db", "table"], name="layers_target_once")
        ]
        indexes: ClassVar = [
            models.Index(fields=["lake", "next_at"], name="layers_next"),
        ]

    def __str__(self) -> str:
        return f"{self.db}.{self.table}"

    @property
    def hive(self) -> TableName:
        """The target as the platform knows it."""
        return TableName(LakeId(self.lake), self.db, self.table)

    @property
    def layer(self) -> Definition:
        """The definition."""
        return read_layer(self.definition)

    @property
    def badge(self) -> str:
        """Its state now, as pages show it; of rows that were read with `is_held`."""
        every = timedelta(minutes=self.every_minutes)
        is_held = bool(getattr(self, "is_held", False))
        times = (self.advanced_at, every, self.heard_at)
        facts = Facts(self.is_paused, is_held, self.problem, *times)
        return layer_state(facts, now=timezone.now()).value


class LayerSource(models.Model):
    """A table that a layer reads, and how far it is read: an edge of the graph."""

    layer = models.ForeignKey(Layer, on_delete=models.CASCADE, related_name="edges")
    db = models.CharField(max_length=128)
    table = models.CharField(max_length=256)
    is_static = models.BooleanField(default=False)
    schema = models.JSONField(default=list, help_text="columns that people have seen")
    found_schema = models.JSONField(default=list, help_text="those that wait for a person")
    position = models.TextField(blank=True)
    position_at = models.DateTimeField(null=True, help_text="when that commit was completed")
    read_at = models.DateTimeField(null=True, help_text="the target has all that it had then")
    event_time = models.DateTimeField(null=True)
    watermark = models.DateTimeField(null=True, help_text="of the source, as it was read")
    watermark_reason = models.TextField(blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["layer", "db", "table"], name="layers_source_once")
        ]
        indexes: ClassVar = [models.Index(fields=["db", "table"], name="layers_source_table")]

    def __str__(self) -> str:
        return f"{self.db}.{self.table}"

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns that people have seen."""
        return msgspec.convert(self.schema, tuple[Field, ...])

    @property
    def found(self) -> tuple[Field, ...]:
        """The columns that wait for a person; none: nothing waits."""
        return msgspec.convert(self.found_schema, tuple[Field, ...])

    @property
    def waits_for(self) -> str:
        """How the columns that wait differ from those that people have seen."""
        return schema_words(self.fields, self.found) if self.found_schema else ""

    @property
    def asked(self) -> "LayerSchemaRequest | None":
        """The request about the columns that wait, while it is open."""
        return self.schema_requests.filter(open_key__isnull=False).first()

    @property
    def refused(self) -> "LayerSchemaRequest | None":
        """The last request about the columns, where it was refused."""
        last = self.schema_requests.order_by("-created_at").first()
        return last if last is not None and last.state == "REJECTED" else None

    @property
    def read_as(self) -> str:
        """Whether its changes are followed, in words."""
        return "static table" if self.is_static else "changes"

    @property
    def lag_seconds(self) -> int | None:
        """How old the state of the source is that the target has now."""
        found = lag(self.read_at, now=timezone.now())
        return None if found is None else int(found.total_seconds())

    @property
    def hold(self) -> Hold | None:
        """What the source must keep for the layer now; None: nothing."""
        if self.is_static:
            return None
        return hold_of(self.position_at, self.read_at, now=timezone.now())

    @property
    def hold_state(self) -> str:
        """Whether old versions of the source are kept for the layer, in words."""
        return self.hold.words if self.hold is not None else ""


class LayerAdvance(models.Model):
    """What one advance of a layer did."""

    layer = models.ForeignKey(Layer, on_delete=models.CASCADE, related_name="advances")
    run = models.UUIDField()
    at = models.DateTimeField()
    state = models.CharField(max_length=12)
    mode = models.CharField(max_length=12)
    reason = models.TextField(blank=True)
    n_upserts = models.BigIntegerField(default=0)
    n_deletes = models.BigIntegerField(default=0)
    n_commits = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["layer", "run"], name="layers_advance_once")
        ]
        indexes: ClassVar = [models.Index(fields=["layer", "at"], name="layers_advance_time")]

    def __str__(self) -> str:
        return f"{self.layer_id} at {self.at}"

    @property
    def badge(self) -> str:
        """What it came to, as pages show it."""
        return f"LAYER_ADVANCE_{self.state.upper()}"


class LayerSchemaRequest(Proposal):
    """Changed columns of a layer's source, put to admins; of a source one is open at most."""

    lake = models.CharField(max_length=32)
    db = models.CharField(max_length=128, help_text="of the target")
    table = models.CharField(max_length=256, help_text="of the target")
    edge = models.ForeignKey(
        LayerSource, null=True, on_delete=models.SET_NULL, related_name="schema_requests"
    )
    source = models.CharField(max_length=400)
    change = models.TextField()
    reread = models.BooleanField(default=True, help_text="whether all rows are read again")
    requested_by = models.CharField(max_length=150)
    note = models.TextField(blank=True)
    open_key = models.BigIntegerField(
        null=True, unique=True, help_text="the source while the request is open"
    )

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["lake", "state", "created_at"], name="layers_request_state")
        ]

    @property
    def effect(self) -> Effect:
        """What it releases; it takes no data away."""
        return Effect(f"{self.db}.{self.table} goes on with changed columns of {self.source}")

    def __str__(self) -> str:
        return f"Columns of {self.source} for {self.db}.{self.table}"
