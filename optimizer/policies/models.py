"""Policy versions: what people want done to which tables, since when, by whom and the reason."""

from typing import ClassVar

from django.db import models

from optimizer.policies.domain.formats import TableFormat


class PolicyVersion(models.Model):
    """The settings of one scope as somebody set them; no version is ever changed or taken away.

    A version without values inherits everything. `scope` is `*`, `etl*`, `etl.events_*` or
    `etl.events`, in small letters.
    """

    lake = models.CharField(max_length=32)
    format = models.CharField(
        max_length=16, default=TableFormat.ICEBERG.value, help_text="of the tables that it is about"
    )
    scope = models.CharField(max_length=385)
    version = models.PositiveIntegerField()
    # True for the newest, null before: MariaDB knows no conditional uniqueness.
    is_current = models.BooleanField(null=True, default=True)
    values = models.JSONField(default=dict, help_text="only the fields that this scope names")
    by = models.CharField(max_length=150)
    at = models.DateTimeField()
    reason = models.TextField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["lake", "format", "scope", "version"], name="optimizer_policy_version_once"
            ),
            models.UniqueConstraint(
                fields=["lake", "format", "scope", "is_current"],
                name="optimizer_policy_current_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.scope} version {self.version}"
