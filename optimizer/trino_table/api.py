"""API of Trino's table of queries: whether it is read, and how far."""

from typing import Any

from rest_framework import serializers

from optimizer.trino_table.selectors import TableStatus, table_status
from portal.ui.api.operations import LAKE, ApiView, operation


class TrinoTableSerializer(serializers.Serializer[Any]):
    """The table into which Trino's MySQL event listener writes."""

    is_read = serializers.BooleanField(
        read_only=True, help_text="whether the lake's configuration names such a table"
    )
    place = serializers.CharField(read_only=True, help_text="to admins and operators")
    n_rows = serializers.IntegerField(read_only=True, help_text="queries taken from it")
    n_odd = serializers.IntegerField(
        read_only=True, help_text="rows whose id is none that Trino gives"
    )
    read_at = serializers.DateTimeField(read_only=True, allow_null=True)
    problem = serializers.CharField(read_only=True, help_text="to admins and operators")
    failing_since = serializers.DateTimeField(read_only=True, allow_null=True)
    next_at = serializers.DateTimeField(
        read_only=True, allow_null=True, help_text="when it is tried again"
    )
    left_out_from = serializers.DateTimeField(
        read_only=True, allow_null=True, help_text="queries begun between these two were not read"
    )
    left_out_until = serializers.DateTimeField(read_only=True, allow_null=True)


class TrinoTableView(ApiView):
    """Trino's table of queries."""

    @operation("optimizer_trino_table", answer=TrinoTableSerializer, parameters=LAKE)
    def get(self) -> object:
        """Return whether Trino's table of queries is read, and what hinders it."""
        return table_status(self.lake, self.user) or TableStatus(is_read=False)
