"""Totals of each owner's part of a scan. The scan writes them, so no page has to."""

from django.db import models

from lifecycle.inventory.models.findings import FindingQuerySet, ScanSnapshot


class OwnerTotals(models.Model):
    """The sums of one database's tables that have the same owner.

    The row of a whole lake has no database; it is for those who see everything.
    """

    generation = models.ForeignKey(ScanSnapshot, on_delete=models.CASCADE, related_name="+")
    lake = models.CharField(max_length=32)
    db = models.CharField(max_length=128, blank=True)
    owner = models.CharField(max_length=128, blank=True)
    db_owner = models.CharField(max_length=128, blank=True)
    n_clean_now = models.BigIntegerField(default=0)
    bytes_clean_now = models.BigIntegerField(default=0)
    n_soon = models.BigIntegerField(default=0)
    bytes_soon = models.BigIntegerField(default=0)
    n_still_read = models.BigIntegerField(default=0)
    bytes_still_read = models.BigIntegerField(default=0)
    n_not_enrolled = models.BigIntegerField(default=0)
    n_paths = models.BigIntegerField(default=0)

    objects = FindingQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["generation", "db", "owner", "db_owner"], name="owner_totals_once"
            )
        ]
        indexes = [
            models.Index(fields=["generation", "owner"], name="owner_totals_owner"),
            models.Index(fields=["generation", "db_owner"], name="owner_totals_db_owner"),
        ]

    def __str__(self) -> str:
        return f"{self.db or 'the whole lake'} of {self.owner or 'everybody'}"


class DueDay(models.Model):
    """What of one owner's tables in one database is due on a day; what is overdue is on the scan's.

    The row of a whole lake has no database; it is for those who see everything. Days far ahead and
    days without anything have no row.
    """

    generation = models.ForeignKey(ScanSnapshot, on_delete=models.CASCADE, related_name="+")
    lake = models.CharField(max_length=32)
    db = models.CharField(max_length=128, blank=True)
    owner = models.CharField(max_length=128, blank=True)
    db_owner = models.CharField(max_length=128, blank=True)
    day = models.DateField()
    n_items = models.BigIntegerField()
    n_bytes = models.BigIntegerField(help_text="of those that were measured")

    objects = FindingQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["generation", "db", "owner", "db_owner", "day"], name="due_day_once"
            )
        ]
        indexes = [
            models.Index(fields=["generation", "owner", "day"], name="due_day_owner"),
            models.Index(fields=["generation", "db_owner", "day"], name="due_day_db_owner"),
        ]

    def __str__(self) -> str:
        return f"{self.n_items} of {self.db or 'the whole lake'} on {self.day}"
