"""How far Trino's table of queries was read, and whether it can be."""

from typing import ClassVar

from django.db import models


class TrinoQueryTable(models.Model):
    """The table of a lake's Trino; one row a lake, made when it is first read."""

    lake = models.CharField(max_length=64)
    positions = models.JSONField(
        default=dict, help_text="minutes after which it is looked -> the last id"
    )
    n_rows = models.BigIntegerField(default=0, help_text="queries taken from it")
    n_odd = models.BigIntegerField(default=0, help_text="rows whose id is none of Trino's")
    read_at = models.DateTimeField(null=True, help_text="when it was last read")
    problem = models.CharField(
        max_length=1000, blank=True, help_text="why it cannot be read; empty: it can"
    )
    failing_since = models.DateTimeField(null=True)
    n_failures = models.PositiveIntegerField(default=0, help_text="one after the other")
    next_at = models.DateTimeField(null=True, help_text="when it is tried again")
    left_out_from = models.DateTimeField(
        null=True, help_text="queries that began from then on were not read: it was too late"
    )
    left_out_until = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["lake"], name="optimizer_trino_table_once")
        ]

    def __str__(self) -> str:
        return f"trino_queries of {self.lake}"
