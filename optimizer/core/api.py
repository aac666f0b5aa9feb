"""The fields of a task in the API."""

from rest_framework import serializers

from optimizer.core.models import OptimizeTask
from optimizer.core.selectors.tasks import task_kinds
from portal.ui.api.old_names import OldNames


class OptimizeTaskSerializer(OldNames, serializers.ModelSerializer[OptimizeTask]):
    """One piece of work: why it is done, what it waits for, what came of it."""

    old_names = {
        "asked_by": "requested_by",
        "heard_at": "event_at",
        "noted_at": "created_at",
        "sent_at": "started_at",
    }

    table_format = serializers.CharField(read_only=True, help_text="of its table: iceberg or hudi")
    table_id = serializers.IntegerField(
        read_only=True, allow_null=True, help_text="of an Iceberg table, null otherwise"
    )
    hudi_id = serializers.IntegerField(
        read_only=True, allow_null=True, help_text="of a Hudi table, null otherwise"
    )
    kind = serializers.ChoiceField(choices=[(one, one) for one in task_kinds()], read_only=True)
    db = serializers.CharField(source="subject.db", read_only=True)
    table = serializers.CharField(source="subject.table", read_only=True)
    is_open = serializers.SerializerMethodField()
    is_stopping = serializers.BooleanField(
        read_only=True, help_text="cancelled while a run has it; the run was asked to stop it"
    )

    class Meta:
        model = OptimizeTask
        fields = (
            *("id", "table_format", "table_id", "hudi_id", "db", "table", "kind", "state"),
            *("is_open", "is_stopping"),
            *("reason", "waits_for", "not_before", "risk", "is_cold", "score", "partitions"),
            *("instants", "target_bytes", "layout", "policy_versions"),
            *("estimate", "snapshot_id", "requested_by", "created_at", "event_at", "started_at"),
            *("ended_at", "run", "outcome_code", "outcome", "before", "after", "commits"),
            *("n_conflicts", "n_tries", "seconds"),
        )
        read_only_fields = fields

    def get_is_open(self, row: OptimizeTask) -> bool:
        """Say whether it is still to be done."""
        return bool(row.is_open)
