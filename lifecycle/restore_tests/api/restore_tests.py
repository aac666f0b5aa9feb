"""API that reads and starts restore tests, equivalent to their pages."""

from typing import Any, ClassVar
from uuid import UUID

from django.utils import timezone
from rest_framework import serializers

from lifecycle.models import RestoreTest, RestoreTestItem
from lifecycle.restore_tests.selectors import (
    ITEM_ORDERS,
    RESTORE_TEST_ORDERS,
    RestoreTestFilter,
    RestoreTestItemFilter,
    count_for,
    get_restore_test,
    items_visible,
    restore_tests_of,
    verified_databases,
)
from lifecycle.restore_tests.services.restore_tests import restore_test_request
from portal.ui.api.old_names import OldNames
from portal.ui.api.operations import ApiView, operation
from portal.ui.api.pages import KeysetList, Rows


class RestoreTestSerializer(OldNames, serializers.ModelSerializer[RestoreTest]):
    """One restore test."""

    old_names = {"why": "reason", "n_proven": "n_verified"}

    id = serializers.UUIDField(source="public_id", read_only=True)

    class Meta:
        model = RestoreTest
        fields: ClassVar = [
            *("id", "lake", "run_id", "state", "requested_by", "started_at", "finished_at"),
            *("n_items", "n_verified", "n_differing", "n_skipped", "n_bytes", "n_rows", "reason"),
            "is_clean",
        ]
        read_only_fields = fields


class RestoreTestItemSerializer(serializers.ModelSerializer[RestoreTestItem]):
    """One item that a restore test restored and compared."""

    differences = serializers.ListField(child=serializers.CharField(), read_only=True)
    remarks = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = RestoreTestItem
        fields: ClassVar = [
            *("batch_id", "day", "db", "table", "table_owner", "partition", "format", "outcome"),
            *("n_files", "n_bytes", "n_rows", "content", "differences", "remarks", "checked_at"),
        ]
        read_only_fields = fields


class VerifiedDatabaseSerializer(OldNames, serializers.Serializer[object]):
    """When restoring a database's backups was last proven."""

    old_names = {"proven_at": "verified_at"}

    db = serializers.CharField(read_only=True)
    state = serializers.CharField(read_only=True)
    n_bytes = serializers.IntegerField(read_only=True)
    backed_up_since = serializers.DateField(read_only=True)
    verified_at = serializers.DateTimeField(read_only=True, allow_null=True)
    proven_by = serializers.UUIDField(read_only=True, allow_null=True)
    failed_at = serializers.DateTimeField(read_only=True, allow_null=True)
    failed_by = serializers.UUIDField(read_only=True, allow_null=True)


class RestoreTestStartSerializer(serializers.Serializer[object]):
    """Why a restore test is started."""

    reason = serializers.CharField(required=False, default="", allow_blank=True, max_length=1000)


class RestoreTestList(KeysetList):
    """Restore tests."""

    operation_id = "drills_list"
    serializer_class = RestoreTestSerializer
    filterset_class = RestoreTestFilter
    orders = RESTORE_TEST_ORDERS

    def get_queryset(self) -> Rows:
        """List the restore tests, newest first."""
        return restore_tests_of(self.lake)

    def completed(self, rows: list[Any]) -> list[Any]:
        """Count for each restore test what the person may see."""
        count_for(rows, user=self.user)
        return rows

    @operation(
        "drills_start", body=RestoreTestStartSerializer, answer=RestoreTestSerializer, status=202
    )
    def post(self) -> object:
        """Start a restore test, or give the one that is under way (admins, operators)."""
        return restore_test_request(
            self.lake,
            user=self.user,
            reason=self.data["reason"],
            now=timezone.now(),
        )


class RestoreTestDetail(ApiView):
    """One restore test."""

    @operation("drills_get", answer=RestoreTestSerializer)
    def get(self, drill_id: UUID) -> object:
        """Return a restore test; its counts are of what you may see."""
        found = get_restore_test(drill_id)
        count_for([found], user=self.user)
        return found


class RestoreTestItems(KeysetList):
    """What a restore test compared."""

    operation_id = "drills_items"
    serializer_class = RestoreTestItemSerializer
    filterset_class = RestoreTestItemFilter
    orders = ITEM_ORDERS

    def get_queryset(self) -> Rows:
        """List what a restore test compared of what you answer for."""
        return items_visible(get_restore_test(self.kwargs["drill_id"]), self.user)


class RestoreTestDatabases(ApiView):
    """The proofs of databases."""

    @operation("drills_databases", answer=VerifiedDatabaseSerializer, many=True)
    def get(self) -> object:
        """List your databases with backups: when restoring was last proven, worst first."""
        return verified_databases(self.lake, now=timezone.now(), user=self.user)
