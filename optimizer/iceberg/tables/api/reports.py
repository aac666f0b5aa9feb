"""API for engines' metrics reports, as to Iceberg's REST catalog with the lake as the prefix."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from optimizer.advice.domain.scan_reports import read_scan
from optimizer.iceberg.tables.domain.reports import CommitReport, read_metrics
from optimizer.iceberg.tables.services.reports import commit_report, table_of_report
from optimizer.iceberg.tables.services.scans import scan_report
from portal.lake.errors import TooMuch
from portal.played import instant
from portal.ui.api.operations import ApiView, operation

SCOPE = "optimizer"
MOST_BYTES = 1024**2
COMMIT, SCAN = "commit-report", "scan-report"
OPERATIONS = ("append", "replace", "overwrite", "delete")
_MOST = 2**63 - 1


class ReportSerializer(serializers.Serializer[Any]):
    """Iceberg's ReportMetricsRequest; fields that are not named here are left unread."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields, whose names hold dashes."""
        return {
            "report-type": serializers.ChoiceField([COMMIT, SCAN], source="kind"),
            "table-name": serializers.CharField(max_length=1024, required=False, source="name"),
            "snapshot-id": serializers.IntegerField(
                min_value=1, max_value=_MOST, required=False, source="snapshot_id"
            ),
            "sequence-number": serializers.IntegerField(
                min_value=0, max_value=_MOST, required=False, source="sequence"
            ),
            "operation": serializers.ChoiceField(OPERATIONS, required=False),
            "metrics": serializers.DictField(required=False, help_text="counters by name"),
            "filter": serializers.JSONField(
                required=False, help_text="of a scan-report, as ExpressionParser writes it"
            ),
            "metadata": serializers.DictField(required=False, help_text="engine-name and others"),
        }

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a commit's report that names no snapshot."""
        if attrs["kind"] == COMMIT and "snapshot_id" not in attrs:
            raise serializers.ValidationError(
                {"snapshot-id": "A commit-report names the snapshot that was committed."}
            )
        return attrs


class Metrics(ApiView):
    """Where metrics reports are taken."""

    token_scope = SCOPE

    @operation("optimizer_report_metrics", body=ReportSerializer, status=204)
    def post(self, lake: str, db: str, table: str) -> None:
        """Take a report in: a commit's is kept with it, a scan's is added to sums."""
        now = instant()
        check_size(self.request)
        data = self.data
        row = table_of_report(lake, db, table, user=self.user)
        if data["kind"] == COMMIT:
            commit_report(row, _commit(data), now=now)
        else:
            scan_report(row, read_scan(data), now=now)


_ONE_A_CALL = "; no metrics report is. Send one report a call, as Iceberg writes it."


def check_size(
    request: Request, *, what: str = "body", most: int = MOST_BYTES, hint: str = _ONE_A_CALL
) -> None:
    """Refuse a body that is too big before it is read.

    Raises:
        TooMuch: `optimizer.body`.
    """
    size = request.META.get("CONTENT_LENGTH") or "0"
    if not size.isdecimal() or int(size) > most:
        raise TooMuch("optimizer.body", f"The {what} is larger than {most // 1024**2} MiB{hint}")


def _commit(data: dict[str, Any]) -> CommitReport:
    return CommitReport(
        data["snapshot_id"],
        data.get("sequence"),
        data.get("operation", ""),
        read_metrics(data.get("metrics", {})),
    )
