"""API by which readers of tables report what file indexes saved: counts, no value of a query."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from optimizer.iceberg.indexing.services.uses import ReportedUse, uses_report
from optimizer.iceberg.tables.api.reports import SCOPE, check_size
from optimizer.indexes.domain.envelope import Kind
from portal.ui.api.operations import ApiView, operation

MOST_TABLES = 256
MOST_USES = 64
_MOST = 2**40
_MOST_BYTES = 2**53


class ReportedUseSerializer(serializers.Serializer[Any]):
    """One index of a column."""

    column = serializers.CharField(max_length=512)
    kind = serializers.ChoiceField([kind.value for kind in Kind])
    plans = serializers.IntegerField(min_value=1, max_value=_MOST)
    files = serializers.IntegerField(min_value=0, max_value=_MOST)
    bytes = serializers.IntegerField(min_value=0, max_value=_MOST_BYTES)


class TableUsesSerializer(serializers.Serializer[Any]):
    """The indexes of one table."""

    table_uuid = serializers.UUIDField(help_text="Iceberg's own")
    indexes = serializers.ListField(child=ReportedUseSerializer(), max_length=MOST_USES)


class UseReportSerializer(serializers.Serializer[Any]):
    """What one reader's plans did since its last report."""

    tables = serializers.ListField(child=TableUsesSerializer(), max_length=MOST_TABLES)


class UsesTakenSerializer(serializers.Serializer[Any]):
    """What was added to the sums."""

    taken = serializers.IntegerField(read_only=True)
    ignored = serializers.IntegerField(
        read_only=True, help_text="of tables that are not known, or columns without an index"
    )


class IndexReports(ApiView):
    """Where reports of index use are taken."""

    token_scope = SCOPE

    @operation("optimizer_report_indexes", body=UseReportSerializer, answer=UsesTakenSerializer)
    def post(self, lake: str) -> object:
        """Add what indexes dropped to the sums of today."""
        now = timezone.now()
        check_size(self.request)
        reports = [
            (
                str(one["table_uuid"]),
                [
                    ReportedUse(
                        use["column"], use["kind"], use["plans"], use["files"], use["bytes"]
                    )
                    for use in one["indexes"]
                ],
            )
            for one in self.data["tables"]
        ]
        return uses_report(lake, reports, user=self.user, now=now)
