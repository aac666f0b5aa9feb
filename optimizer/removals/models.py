"""Removal lists that were shown to people, and the result of each."""

from typing import ClassVar

from django.db import models

from optimizer.core.models import (
    ONE_TABLE,
    MaintainedTable,
    OptimizeTask,
    format_of,
    subject_of,
)
from optimizer.removals.domain.states import RemovalState
from optimizer.removals.domain.words import LISTED, RECOVERY
from portal.approvals.models import Effect, Proposal, with_reason
from portal.lake.counts import count_words


class RemovalPlan(Proposal):
    """One list, created at one snapshot of a table; what people approve is its digest.

    The list of an Iceberg table is a file in the spool of the run that drew it up; here are its
    counts and the first names of it. That of a Hudi table is short, and stands whole in `facts`.
    """

    table = models.ForeignKey(
        "optimizer.IcebergTable", on_delete=models.CASCADE, null=True, related_name="removals"
    )
    hudi = models.ForeignKey(
        "optimizer.HudiTable", on_delete=models.CASCADE, null=True, related_name="removals"
    )
    task = models.ForeignKey(OptimizeTask, on_delete=models.CASCADE, related_name="removals")
    kind = models.CharField(max_length=32)
    state = models.CharField(
        max_length=12,
        choices=[(one.value, one.value) for one in RemovalState],
        default=RemovalState.PENDING.value,
    )
    digest = models.CharField(max_length=64, help_text="sha256 of the list")
    items_uri = models.TextField(blank=True)
    snapshot_id = models.BigIntegerField(null=True, help_text="the table's, when it was created")
    n_items = models.BigIntegerField(help_text="snapshots of an expiry, files of orphans")
    n_files = models.BigIntegerField()
    n_bytes = models.BigIntegerField()
    facts = models.JSONField(default=dict, help_text="counts by kind, what stays, first names")
    requesters = models.JSONField(default=list, help_text="who may not decide")
    run = models.UUIDField(null=True, help_text="the run that removes")
    ended_by = models.CharField(max_length=150, blank=True)
    outcome = models.TextField(blank=True, help_text="in words")
    removed = models.JSONField(default=dict, help_text="counts and bytes of what went")

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["state", "created_at"], name="optimizer_removal_state"),
            models.Index(fields=["table", "-created_at"], name="optimizer_removal_of"),
            models.Index(fields=["hudi", "-created_at"], name="optimizer_removal_hudi"),
        ]
        constraints: ClassVar = [
            models.CheckConstraint(condition=ONE_TABLE, name="optimizer_removal_one_table")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.short_id}"

    @property
    def title(self) -> str:
        """What it removes of which table, or brings back, and why."""
        words, one = self.listed
        what = f"{words}: {count_words(self.n_items, one)} of {self.subject}"
        return with_reason(what, self.reason)

    @property
    def effect(self) -> Effect:
        """What would be removed or brought back."""
        done = "brought back" if self.kind == RECOVERY else "removed"
        items = count_words(self.n_items, self.listed[1])
        return Effect(f"{items} {done}", self.n_items, self.n_bytes)

    @property
    def listed(self) -> tuple[str, str]:
        """What it lists, and the name of one of it."""
        return LISTED.get(self.kind, (self.kind, "item"))

    @property
    def subject(self) -> MaintainedTable:
        """The table that it is about, of whichever format."""
        return subject_of(self)

    @property
    def table_format(self) -> str:
        """The format of its table, as filters and the API name it."""
        return format_of(self)
