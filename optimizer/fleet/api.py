"""API of a lake's scans: bytes read and left out, query times, savings, what nothing serves."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

from optimizer.fleet.selectors import PERIODS, fleet_scans, period_of
from portal.ui.api.operations import LAKE, ApiView, operation

DAYS = OpenApiParameter("days", int, enum=PERIODS, description="28 where it is not given")


class ScannedDaySerializer(serializers.Serializer[Any]):
    """The scans of one day."""

    day = serializers.DateField(read_only=True, help_text="in UTC, when the reports came")
    n_scans = serializers.IntegerField(read_only=True)
    n_files = serializers.IntegerField(read_only=True, help_text="data files left to read")
    planned_bytes = serializers.IntegerField(read_only=True, help_text="of those files")
    n_skipped = serializers.IntegerField(read_only=True, help_text="files left out by planning")
    n_unsized = serializers.IntegerField(
        read_only=True, help_text="of them, of tables of unknown size: no bytes stand for them"
    )
    read_bytes = serializers.IntegerField(
        read_only=True, help_text="planned, less what indexes dropped"
    )
    skipped_bytes = serializers.IntegerField(read_only=True, help_text="all that was left out")
    skipped_percent = serializers.FloatField(read_only=True, allow_null=True)
    skipped = serializers.DictField(
        child=serializers.IntegerField(),
        read_only=True,
        help_text="bytes by cause: planning (estimated), a kind of index, cubes",
    )


class QueryTimesSerializer(serializers.Serializer[Any]):
    """How long the queries of an engine took; each quantile is within 5 %."""

    engine = serializers.CharField(read_only=True)
    day = serializers.DateField(read_only=True, allow_null=True, help_text="null: all days")
    n_queries = serializers.IntegerField(read_only=True)
    p50 = serializers.FloatField(read_only=True, allow_null=True, help_text="seconds")
    p95 = serializers.FloatField(read_only=True, allow_null=True, help_text="seconds")


class AdviceSavingSerializer(serializers.Serializer[Any]):
    """An advice that was applied."""

    advice_id = serializers.IntegerField(source="advice.pk", read_only=True)
    table = serializers.CharField(source="advice.table", read_only=True)
    subject = serializers.CharField(source="advice.subject", read_only=True)
    proposed = serializers.CharField(source="advice.proposed", read_only=True)
    state = serializers.CharField(source="advice.state", read_only=True)
    applied_at = serializers.DateTimeField(source="advice.applied_at", read_only=True)
    measured_from = serializers.DateTimeField(
        source="advice.measured_from", read_only=True, allow_null=True
    )
    expected_a_day = serializers.IntegerField(read_only=True, help_text="bytes")
    measured_a_day = serializers.IntegerField(
        read_only=True, allow_null=True, help_text="bytes; null: no scan since is known"
    )


class AdviceSavingsSerializer(serializers.Serializer[Any]):
    """The savings ledger; sums are of advice that still holds."""

    n_applied = serializers.IntegerField(read_only=True)
    n_measured = serializers.IntegerField(read_only=True)
    expected_a_day = serializers.IntegerField(read_only=True)
    measured_a_day = serializers.IntegerField(read_only=True)
    has_more = serializers.BooleanField(read_only=True, help_text="older ones are left out")
    rows = AdviceSavingSerializer(many=True, read_only=True)


class UnservedShapeSerializer(serializers.Serializer[Any]):
    """Scans of a week that no layout, index or cube of their table serves."""

    table_id = serializers.IntegerField(read_only=True)
    table = serializers.CharField(read_only=True)
    filters = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField()),
        read_only=True,
        help_text="[column, kind] in order; empty: no filter",
    )
    n_scans = serializers.IntegerField(read_only=True)
    n_bytes = serializers.IntegerField(read_only=True, help_text="planned")
    looked_at = serializers.DateTimeField(read_only=True)


class FleetScansSerializer(serializers.Serializer[Any]):
    """The scans of a lake in a period."""

    n_days = serializers.IntegerField(read_only=True)
    days = ScannedDaySerializer(many=True, read_only=True)
    times = QueryTimesSerializer(many=True, read_only=True, help_text="by engine and day")
    engines = QueryTimesSerializer(many=True, read_only=True, help_text="by engine, of all days")
    savings = AdviceSavingsSerializer(read_only=True)
    unserved = UnservedShapeSerializer(many=True, read_only=True)


class FleetScansView(ApiView):
    """Scans of a whole lake."""

    @operation("optimizer_scans", answer=FleetScansSerializer, parameters=[*LAKE, DAYS])
    def get(self) -> object:
        """Return what scans read and left out by day (admins, operators)."""
        n_days = period_of(self.request.query_params.get("days"))
        return fleet_scans(self.lake, self.user, n_days=n_days, now=timezone.now())
