"""Fields of a statement in the API."""

from rest_framework import serializers

from portal.ui.api.old_names import OldNames
from refresh.core.api import ADDRESS
from refresh.models import Refresh


class StatementSerializer(OldNames, serializers.ModelSerializer[Refresh]):
    """One statement that was sent."""

    old_names = {"taker": "coordinator", "said": "message"}

    id = serializers.UUIDField(source="public_id", read_only=True)
    cluster = serializers.CharField(source="cluster.name", read_only=True)
    table_id = serializers.IntegerField(source="target_id", read_only=True)
    catalog = serializers.CharField(source="target.catalog", read_only=True)
    db = serializers.CharField(source="target.db", read_only=True)
    table = serializers.CharField(source="target.table", read_only=True)
    kind = serializers.CharField(read_only=True, help_text="TABLE or PARTITIONS")
    lane = serializers.CharField(source="get_lane_display", read_only=True)
    causes = serializers.ListField(child=serializers.CharField(), read_only=True)
    examples = serializers.ListField(child=serializers.CharField(), read_only=True)
    waited = serializers.FloatField(read_only=True, help_text="seconds")
    seconds = serializers.FloatField(read_only=True, allow_null=True)
    coordinator = serializers.CharField(source="taker_address", read_only=True, help_text=ADDRESS)
    on_fes = serializers.DictField(
        source="by_address",
        child=serializers.ListField(child=serializers.CharField()),
        read_only=True,
        help_text="address of the front end -> [outcome, why]",
    )

    class Meta:
        model = Refresh
        fields = (
            *("id", "cluster", "table_id", "catalog", "db", "table", "coordinator", "kind"),
            *("n_partitions", "examples", "causes", "lane", "waited_since", "began_at"),
            *("ended_at", "waited", "seconds", "ending", "code", "message", "on_fes"),
        )
        read_only_fields = fields
