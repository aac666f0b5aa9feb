"""The API of how far ahead a database's owners are told and how long its backups are kept."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from lifecycle.core.domain.days import Days
from lifecycle.core.selectors.database_days import backups_kept, days_of
from lifecycle.databases.services.days import DaysChange, database_days_change
from lifecycle.inventory.api.findings import LAKE
from lifecycle.inventory.selectors.findings import get_database_for_user
from portal.ui.api.serializers import ReasonSerializer
from portal.ui.frame.context import current_lake, person

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


class DatabaseDays(APIView):
    """The days of a database."""

    @extend_schema(
        operation_id="database_days_get", responses=DatabaseDaysSerializer, parameters=LAKE
    )
    def get(self, request: Request, db: str) -> Response:
        """Return the days that count for what is dropped from now on."""
        lake = current_lake(request)
        get_database_for_user(lake, db, user=person(request))
        return _shown(lake, db)

    @extend_schema(
        operation_id="database_days_change",
        request=DatabaseDaysChangeSerializer,
        responses=DatabaseDaysSerializer,
        parameters=LAKE,
    )
    def post(self, request: Request, db: str) -> Response:
        """Set them (admins)."""
        lake, user = current_lake(request), person(request)
        get_database_for_user(lake, db, user=user)
        body = DatabaseDaysChangeSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        said = body.validated_data
        change = DaysChange(
            lake=lake,
            db=db,
            seen=Days(said["seen_notice_days"], said["seen_backup_days"]),
            wanted=Days(said["notice_days"], said["backup_days"]),
            reason=said["reason"],
        )
        database_days_change(change, user=user, now=timezone.now())
        return _shown(lake, db)


def _shown(lake: str, db: str) -> Response:
    days, kept = days_of(lake, db), backups_kept(lake, db)
    shown = {
        "notice_days": days.notice,
        "backup_days": days.backup,
        "n_backups_kept": kept.n_batches,
        "first_purge_at": kept.first_purge_at,
    }
    return Response(DatabaseDaysSerializer(shown).data)
