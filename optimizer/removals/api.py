"""API of removal lists, equivalent to the pages."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from rest_framework import serializers

from optimizer.iceberg.maintenance.domain.quarantine import QuarantineState
from optimizer.models import Quarantine, RemovalPlan
from optimizer.removals.domain.states import RemovalState
from optimizer.removals.selectors import (
    REMOVAL_ORDERS,
    RemovalFilter,
    get_removal_for_user,
    quarantine_of,
    removals_visible,
)
from optimizer.removals.services.removals import REMOVALS
from portal.access.models import User
from portal.ui.api.operations import ApiView, operation
from portal.ui.api.pages import KeysetList, Rows
from portal.ui.api.proposals import decide_api, reasoned_api


class RemovalPlanSerializer(serializers.ModelSerializer[RemovalPlan]):
    """A list of what would be removed from a table, and what came of it."""

    table_format = serializers.CharField(read_only=True, help_text="of its table: iceberg or hudi")
    table_id = serializers.IntegerField(read_only=True, allow_null=True)
    hudi_id = serializers.IntegerField(read_only=True, allow_null=True)
    db = serializers.CharField(source="subject.db", read_only=True)
    table = serializers.CharField(source="subject.table", read_only=True)
    state = serializers.CharField(
        read_only=True, help_text=", ".join(one.value for one in RemovalState)
    )

    class Meta:
        model = RemovalPlan
        fields: tuple[str, ...] = (
            *("id", "table_format", "table_id", "hudi_id", "db", "table", "kind", "state"),
            *("digest", "snapshot_id"),
            *("n_items", "n_files", "n_bytes", "reason", "requesters", "created_at", "run"),
            *("ended_at", "ended_by", "outcome", "removed"),
        )
        read_only_fields = fields


class QuarantineSerializer(serializers.ModelSerializer[Quarantine]):
    """The files of a list that are in quarantine beside their table."""

    state = serializers.CharField(
        read_only=True, help_text=", ".join(one.value for one in QuarantineState)
    )

    class Meta:
        model = Quarantine
        fields: tuple[str, ...] = (
            *("directory", "state", "n_files", "n_bytes", "moved_at", "delete_after", "run"),
            *("reason", "ended_at", "ended_by"),
        )
        read_only_fields = fields


class RemovalPlanDetailSerializer(RemovalPlanSerializer):
    """A list with its counts by kind, its first names, and the steps that you may take."""

    steps = serializers.ListField(child=serializers.CharField(), read_only=True)
    quarantine = QuarantineSerializer(read_only=True, allow_null=True, source="aside")

    class Meta(RemovalPlanSerializer.Meta):
        fields: tuple[str, ...] = (
            *RemovalPlanSerializer.Meta.fields,
            "facts",
            "steps",
            "quarantine",
        )
        read_only_fields = fields


class RemovalList(KeysetList):
    """Lists of what would be removed."""

    operation_id = "optimizer_removals_list"
    page_name = "OptimizerRemoval"
    serializer_class = RemovalPlanSerializer
    filterset_class = RemovalFilter
    orders = REMOVAL_ORDERS

    def get_queryset(self) -> Rows:
        """List what was proposed for the tables that you may see, the newest first."""
        return removals_visible(self.lake, self.user)


class RemovalDetail(ApiView):
    """One list."""

    @operation("optimizer_removals_get", answer=RemovalPlanDetailSerializer)
    def get(self, removal_id: UUID) -> object:
        """Return a list with its counts, its first names, and the steps that you may take."""
        return removal_shown(get_removal_for_user(removal_id, user=self.user), self.user)


def removal_shown(found: RemovalPlan, user: User) -> object:
    """Return a list with its counts, its first names, and the steps that a person may take."""
    shown: Any = found
    shown.aside = quarantine_of(found)
    shown.steps = REMOVALS.steps(found, user, now=timezone.now()).names
    return found


RemovalDecide = decide_api(
    REMOVALS,
    "optimizer_removals_decide",
    says="Approve or reject exactly what has the digest that you read (admins).",
    shown=removal_shown,
    answer=RemovalPlanDetailSerializer,
)
RemovalWithdraw = reasoned_api(
    REMOVALS.withdraw,
    "optimizer_removals_withdraw",
    says="Withdraw what you asked for before anybody decided.",
    shown=removal_shown,
    answer=RemovalPlanDetailSerializer,
)
