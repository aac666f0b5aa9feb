"""Tables of the governed lakes, and names that no table has any more."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

DB_CHARS, NAME_CHARS, OWNER_CHARS, FORMAT_CHARS = 128, 256, 128, 64


class Table(models.Model):
    """One table of a lake.

    A rename keeps the row, a table created again under the name gets another.

    A deleted one is kept for a while, so that what hangs on it can still be read.
    """

    lake = models.CharField(max_length=32)
    db = models.CharField(max_length=DB_CHARS)
    name = models.CharField(max_length=NAME_CHARS)
    format = models.CharField(max_length=FORMAT_CHARS)
    uuid = models.CharField(max_length=36, blank=True, help_text="empty: its format has none")
    location = models.TextField(blank=True)
    owner = models.CharField(max_length=OWNER_CHARS, blank=True)
    db_owner = models.CharField(max_length=OWNER_CHARS, blank=True)
    metastore_id = models.BigIntegerField(null=True, help_text="TBL_ID; null before its first scan")
    created_at = models.DateTimeField(null=True, help_text="by the metastore; null: not told yet")
    event_id = models.BigIntegerField(help_text="the metastore event that last decided about it")
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True)
    # MariaDB knows no conditional uniqueness.
    is_living = models.BooleanField(null=True, default=True, help_text="null: deleted")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["lake", "db", "name", "is_living"], name="catalog_table_once"
            ),
            models.CheckConstraint(
                condition=Q(is_living=True, deleted_at=None)
                | Q(is_living=None, deleted_at__isnull=False),
                name="catalog_table_living",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["lake", "is_living", "last_seen_at"], name="catalog_table_seen"),
            models.Index(fields=["lake", "metastore_id"], name="catalog_table_number"),
            models.Index(fields=["lake", "uuid"], name="catalog_table_uuid"),
            models.Index(fields=["lake", "deleted_at"], name="catalog_table_deleted"),
        ]

    def __str__(self) -> str:
        return f"{self.db}.{self.name}"


class VacatedName(models.Model):
    """A name that a table lost by a rename or a drop, and the event that took it.

    An older event that comes late does not give the name to a table again.
    """

    lake = models.CharField(max_length=32)
    db = models.CharField(max_length=DB_CHARS)
    name = models.CharField(max_length=NAME_CHARS)
    event_id = models.BigIntegerField()
    at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["lake", "db", "name"], name="catalog_vacated_once")
        ]
        indexes: ClassVar = [models.Index(fields=["lake", "at"], name="catalog_vacated_old")]

    def __str__(self) -> str:
        return f"{self.db}.{self.name} until {self.event_id}"
