"""Counts of each table's items by age, so that a what-if needs no single item."""

from typing import ClassVar

from django.db import models

from lifecycle.expiry.domain.what_if import Ages
from lifecycle.inventory.models.findings import TableFinding


class TableAges(models.Model):
    """The items of one table of a picture, counted by what the age rule looks at.

    Written once by the ingest of a scan, from the same items as everything else of that picture.
    """

    table = models.OneToOneField(
        TableFinding, on_delete=models.CASCADE, primary_key=True, related_name="ages"
    )
    counts = models.JSONField(help_text="by bucket: [age in days, n, bytes, files, unmeasured]")

    class Meta:
        verbose_name_plural: ClassVar = "table ages"

    def __str__(self) -> str:
        return f"ages of {self.table_id}"

    @property
    def ages(self) -> Ages:
        """The counts, as the rules take them."""
        return Ages.from_json(self.counts)
