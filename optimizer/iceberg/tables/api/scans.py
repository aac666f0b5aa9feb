"""API of how a table was filtered lately."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from optimizer.iceberg.tables.selectors.groupings import groupings_lately
from optimizer.iceberg.tables.selectors.scans import SHOWN_DAYS, scans_lately
from optimizer.iceberg.tables.selectors.tables import get_table_for_user
from portal.ui.api.operations import ApiView, operation


class FilterUseSerializer(serializers.Serializer[Any]):
    """Scans that filtered a column in one way."""

    column = serializers.CharField(read_only=True, help_text="empty: all scans")
    kind = serializers.CharField(
        read_only=True, help_text="=, IN, range, prefix, null or other; empty: all scans"
    )
    n_scans = serializers.IntegerField(read_only=True)
    n_files = serializers.IntegerField(read_only=True, help_text="data files left to read")
    n_skipped = serializers.IntegerField(read_only=True, help_text="files left out by planning")
    n_bytes = serializers.IntegerField(read_only=True, help_text="bytes of the files left to read")
    last_at = serializers.DateTimeField(read_only=True)


class GroupingUseSerializer(serializers.Serializer[Any]):
    """Queries that grouped the table in one way."""

    dimensions = serializers.ListField(
        child=serializers.CharField(),
        read_only=True,
        help_text="columns that are grouped or filtered by, those of joined tables with their keys",
    )
    measures = serializers.ListField(
        child=serializers.CharField(), read_only=True, help_text="aggregates, as function(column)"
    )
    refused = serializers.CharField(
        read_only=True, help_text="why no cube could answer them; empty where one could"
    )
    n_queries = serializers.IntegerField(read_only=True)
    n_days = serializers.IntegerField(read_only=True)
    n_bytes = serializers.IntegerField(read_only=True, help_text="planned of the table")
    seconds = serializers.FloatField(read_only=True, help_text="of the whole queries")
    last_at = serializers.DateTimeField(read_only=True)
    shape = serializers.CharField(
        read_only=True, help_text="one of them without its constants; empty where it is not kept"
    )


class TableScansSerializer(serializers.Serializer[Any]):
    """Scans of a table."""

    days = serializers.IntegerField(read_only=True, help_text="how many days are summed")
    filters = FilterUseSerializer(many=True, read_only=True)
    groupings = GroupingUseSerializer(many=True, read_only=True)


class TableScans(ApiView):
    """Scans of a table as engines reported them."""

    @operation("optimizer_tables_scans", answer=TableScansSerializer)
    def get(self, table_id: int) -> object:
        """Return how columns were filtered, what planning left out, and what queries group by."""
        row, now = get_table_for_user(table_id, self.user), timezone.now()
        return {
            "days": SHOWN_DAYS,
            "filters": scans_lately(row, now=now),
            "groupings": groupings_lately(row, self.user, now=now),
        }
