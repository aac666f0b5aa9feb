"""The API of how far ahead a database's owners are notified and how long its backups are kept."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from lifecycle.core.domain.days import Days
from lifecycle.core.selectors.database_days import backups_kept, days_of
from lifecycle.databases.services.days import DaysChange, database_days_change
from lifecycle.inventory.selectors.findings import get_database_for_user
from portal.ui.api.operations import LAKE, ApiView, operation
from portal.ui.api.serializers import ReasonSerializer

_MOST = 32_767


class DatabaseDaysSerializer(serializers.Serializer[Any]):
    """The days of a database, and the backups that keep those they were made with."""

    notice_days = serializers.IntegerField(read_only=True)
    backup_days = serializers.IntegerField(read_only=True)
    n_backups_kept = serializers.IntegerField(read_only=True)
    first_purge_at = serializers.DateTimeField(read_only=True, allow_null=True)


class DatabaseDaysChangeSerializer(ReasonSerializer):
    """The days wanted, and those that the caller saw."""

    seen_notice_days = serializers.IntegerField(min_value=0, max_value=_MOST)
    seen_backup_days = serializers.IntegerField(min_value=0, max_value=_MOST)
    notice_days = serializers.IntegerField(min_value=0, max_value=_MOST)
    backup_days = serializers.IntegerField(min_value=0, max_value=_MOST)


class DatabaseDays(ApiView):
    """The days of a database."""

    @operation("database_days_get", answer=DatabaseDaysSerializer, parameters=LAKE)
    def get(self, db: str) -> object:
        """Return the days that count for what is dropped from now on."""
        get_database_for_user(self.lake, db, user=self.user)
        return _shown(self.lake, db)

    @operation(
        "database_days_change",
        body=DatabaseDaysChangeSerializer,
        answer=DatabaseDaysSerializer,
        parameters=LAKE,
    )
    def post(self, db: str) -> object:
        """Set them (admins)."""
        get_database_for_user(self.lake, db, user=self.user)
        data = self.data
        change = DaysChange(
            lake=self.lake,
            db=db,
            seen=Days(data["seen_notice_days"], data["seen_backup_days"]),
            wanted=Days(data["notice_days"], data["backup_days"]),
            reason=data["reason"],
        )
        database_days_change(change, user=self.user, now=timezone.now())
        return _shown(self.lake, db)


def _shown(lake: str, db: str) -> dict[str, Any]:
    days, kept = days_of(lake, db), backups_kept(lake, db)
    return {
        "notice_days": days.notice,
        "backup_days": days.backup,
        "n_backups_kept": kept.n_batches,
        "first_purge_at": kept.first_purge_at,
    }
