"""API of relocation plans for path rule violations, equivalent to the pages."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from rest_framework import serializers

from lifecycle.models import PathFinding, RelocationMove, RelocationPlan
from lifecycle.relocation.selectors import (
    CANDIDATE_ORDERS,
    FIX_ITEM_ORDERS,
    FIX_ORDERS,
    FixCandidateFilter,
    RelocationMoveFilter,
    RelocationPlanFilter,
    fix_candidates,
    fix_items,
    fixes_visible,
    get_fix_for_user,
)
from lifecycle.relocation.services.plans import FIXES, fix_request, fix_undo_request
from portal.access.models import User
from portal.ui.api.old_names import OldNames
from portal.ui.api.operations import LAKE, ApiView, operation
from portal.ui.api.pages import KeysetList, Rows
from portal.ui.api.proposals import decide_api, reasoned_api
from portal.ui.api.serializers import ReasonSerializer


class RelocationPlanSerializer(serializers.ModelSerializer[RelocationPlan]):
    """A relocation plan as a list shows it."""

    what = serializers.CharField(read_only=True)

    class Meta:
        model = RelocationPlan
        fields: tuple[str, ...] = (
            *("id", "state", "what", "undo_of", "n_items", "n_left_out", "n_bytes", "n_files"),
            *("digest", "requested_by", "requesters", "reason", "created_at", "run", "ended_at"),
            *("ended_by", "ended_reason"),
        )
        read_only_fields = fields


class RelocationDetailSerializer(RelocationPlanSerializer):
    """One relocation plan with the steps the server allows its reader."""

    transitions = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta(RelocationPlanSerializer.Meta):
        fields = (*RelocationPlanSerializer.Meta.fields, "transitions")
        read_only_fields = fields


class RelocationMoveSerializer(OldNames, serializers.ModelSerializer[RelocationMove]):
    """One path of a relocation plan: from where to where, or why not."""

    old_names = {
        "why": "left_out_reason",
    }

    class Meta:
        model = RelocationMove
        fields = (
            *("kind", "db", "table", "partition", "owner", "reasons", "source", "target"),
            *("n_files", "n_bytes", "n_partitions", "state", "left_out_reason", "note"),
        )
        read_only_fields = fields


class FixCandidateSerializer(serializers.ModelSerializer[PathFinding]):
    """A path rule violation that may be asked for; `id` holds until the next scan."""

    class Meta:
        model = PathFinding
        fields = ("id", "kind", "db", "table", "partition", "owner", "location", "reasons", "hint")
        read_only_fields = fields


class RelocationParamsSerializer(ReasonSerializer):
    """Which path rule violations shall be put right, by the ids of `candidates`."""

    rows = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**53), allow_empty=False
    )


class RelocationList(KeysetList):
    """Relocation plans."""

    operation_id = "path_fixes_list"
    serializer_class = RelocationPlanSerializer
    filterset_class = RelocationPlanFilter
    orders = FIX_ORDERS

    def get_queryset(self) -> Rows:
        """List the relocation plans that you may see."""
        return fixes_visible(self.lake, self.user)

    @operation(
        "path_fixes_create",
        body=RelocationParamsSerializer,
        answer=RelocationDetailSerializer,
        status=201,
        parameters=LAKE,
    )
    def post(self) -> object:
        """Have a relocation plan created for path rule violations (admins and operators)."""
        data = self.data
        now = timezone.now()
        made = fix_request(self.lake, data["rows"], reason=data["reason"], user=self.user, now=now)
        return _detail(made, self.user)


class RelocationCandidates(KeysetList):
    """Path rule violations that may be asked for."""

    operation_id = "path_fixes_candidates"
    serializer_class = FixCandidateSerializer
    filterset_class = FixCandidateFilter
    orders = CANDIDATE_ORDERS

    def get_queryset(self) -> Rows:
        """List nonconforming tables and partitions in databases in ACT mode."""
        return fix_candidates(self.lake, self.user)


class RelocationDetail(ApiView):
    """One relocation plan."""

    @operation("path_fixes_get", answer=RelocationDetailSerializer)
    def get(self, fix_id: UUID) -> object:
        """Return a relocation plan with the steps that you may take."""
        return _detail(get_fix_for_user(fix_id, user=self.user), self.user)


class RelocationMoves(KeysetList):
    """The paths of a relocation plan."""

    operation_id = "path_fix_items_list"
    serializer_class = RelocationMoveSerializer
    filterset_class = RelocationMoveFilter
    orders = FIX_ITEM_ORDERS

    def get_queryset(self) -> Rows:
        """List its paths that you may see: from where to where, and what became of each."""
        return fix_items(get_fix_for_user(self.kwargs["fix_id"], user=self.user), self.user)


def _detail(found: RelocationPlan, user: User) -> object:
    shown: Any = found
    shown.transitions = FIXES.steps(found, user, now=timezone.now()).names
    return found


RelocationDecide = decide_api(
    FIXES,
    "path_fixes_decide",
    says="Approve or reject exactly what has the digest that you read.",
    shown=_detail,
    answer=RelocationDetailSerializer,
)
RelocationWithdraw = reasoned_api(
    FIXES.withdraw,
    "path_fixes_withdraw",
    says="Withdraw your relocation plan before anybody decided.",
    shown=_detail,
    answer=RelocationDetailSerializer,
)
RelocationUndo = reasoned_api(
    fix_undo_request,
    "path_fixes_undo",
    says="Have a plan created that moves everything back (admins); approved as the fix was.",
    shown=_detail,
    answer=RelocationDetailSerializer,
    status=201,
)
