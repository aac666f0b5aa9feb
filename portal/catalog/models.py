"""Tables of the governed lakes, and names that no table has any more."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from portal.catalog.domain.health import HealthLevel

LEVELS = [(level.value, level.name) for level in HealthLevel]
VIEW_NAME_CHARS, VIEW_QUERY_CHARS = 60, 2_000
SENTENCE_CHARS = 300
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
    level = models.PositiveSmallIntegerField(
        choices=LEVELS,
        default=HealthLevel.UNKNOWN.value,
        help_text="of its worst part, as judged last",
    )
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
            models.Index(
                fields=["lake", "is_living", "-level", "db", "name", "id"],
                name="catalog_table_worst",
            ),
            models.Index(fields=["lake", "is_living", "owner"], name="catalog_table_owner"),
            models.Index(fields=["lake", "is_living", "db_owner"], name="catalog_table_db_owner"),
        ]

    def __str__(self) -> str:
        return f"{self.db}.{self.name}"

    @property
    def health(self) -> str:
        """Its level by name."""
        return HealthLevel(self.level).name

    @property
    def health_state(self) -> str:
        """The state by which the badge of its health is found."""
        return f"TABLE_{self.health}"


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


class TablePart(models.Model):
    """How one part of a table's health stood when it was judged last."""

    table = models.ForeignKey(
        Table, on_delete=models.CASCADE, related_name="parts", db_index=False
    )  # the constraint below begins with it
    part = models.CharField(max_length=16)
    level = models.PositiveSmallIntegerField(choices=LEVELS)
    sentence = models.CharField(max_length=SENTENCE_CHARS)
    since = models.DateTimeField(help_text="when this was first found")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["table", "part"], name="catalog_part_once")
        ]
        indexes: ClassVar = [
            models.Index(fields=["part", "level", "table"], name="catalog_part_level")
        ]

    def __str__(self) -> str:
        return f"{self.part}: {self.sentence}"

    @property
    def state(self) -> str:
        """The state by which its badge is found."""
        return f"PART_{HealthLevel(self.level).name}"

    @property
    def is_in_order(self) -> bool:
        """Whether nothing has to be said of it in a list."""
        return self.level == HealthLevel.OK


class HealthRound(models.Model):
    """How far the health of a lake's tables was judged; each round begins with the first table."""

    lake = models.CharField(max_length=32, unique=True)
    began_at = models.DateTimeField(help_text="when this round began")
    after = models.BigIntegerField(default=0, help_text="the last table that it judged")
    judged_at = models.DateTimeField(
        null=True, help_text="when the last complete round began: no table's health is older"
    )

    def __str__(self) -> str:
        return f"{self.lake} after {self.after}"


class SavedView(models.Model):
    """A filter and order of the list of tables that a person gave a name."""

    lake = models.CharField(max_length=32)
    username = models.CharField(max_length=150)
    name = models.CharField(max_length=VIEW_NAME_CHARS)
    query = models.CharField(max_length=VIEW_QUERY_CHARS, blank=True)
    saved_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["lake", "username", "name"], name="catalog_view_once")
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.username}"
