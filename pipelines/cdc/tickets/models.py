"""Tickets: changes of schema that are announced before they run at the source."""

from typing import ClassVar

from django.db import models

from pipelines.cdc.control.models import CapturedTable
from portal.approvals.models import Effect, Proposal


class SchemaTicket(Proposal):
    """One statement that is to run at a source; of a table one ticket is open at most."""

    lake = models.CharField(max_length=32)
    db = models.CharField(max_length=128, help_text="of the lake's table")
    table = models.CharField(max_length=128, help_text="of the lake")
    captured = models.ForeignKey(CapturedTable, on_delete=models.CASCADE, related_name="tickets")
    base_number = models.PositiveIntegerField(help_text="number of the schema that it changes")
    statement = models.TextField()
    columns = models.JSONField(help_text="of the table after the statement")
    key = models.JSONField()
    change_class = models.CharField(max_length=8, help_text="auto, person or refused")
    changes = models.JSONField(help_text="each single change: what, class, reason")
    choices = models.JSONField(
        default=dict, help_text="new column -> its protection, as its owner said"
    )
    requested_by = models.CharField(max_length=150)
    note = models.TextField(blank=True, help_text="why it ended")
    approved_at = models.DateTimeField(null=True)
    released_at = models.DateTimeField(null=True)
    seen_number = models.PositiveIntegerField(
        null=True, help_text="number of the schema that came; of another change too"
    )
    dry_run = models.UUIDField(null=True, help_text="the run that counts; null: nothing to count")
    counted = models.JSONField(
        null=True, help_text="rows, those of them that would be lost, and these by column"
    )
    count_problem = models.TextField(blank=True, help_text="why nothing was counted")
    callback_url = models.CharField(max_length=1024, blank=True)
    callback_tries = models.PositiveSmallIntegerField(default=0)
    callback_at = models.DateTimeField(null=True, help_text="when it is sent next; null: never")
    callback_sent_at = models.DateTimeField(null=True)
    callback_problem = models.TextField(blank=True)
    open_key = models.BigIntegerField(
        null=True, unique=True, help_text="the captured table while the ticket is open"
    )

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["lake", "state", "created_at"], name="cdc_ticket_state"),
            models.Index(fields=["captured", "created_at"], name="cdc_ticket_table"),
            models.Index(fields=["lake", "callback_at"], name="cdc_ticket_callback"),
        ]

    @property
    def effect(self) -> Effect:
        """What it releases; it takes no data away."""
        return Effect(f"{self.db}.{self.table} prepared for a change of its source")

    @property
    def status(self) -> str:
        """Its state, as pages show it."""
        return f"CDC_TICKET_{self.state}"

    def __str__(self) -> str:
        return f"Announced change of {self.db}.{self.table}"
