"""API requests on a Hudi table: a dry run, a service step now, a pause and its end."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from optimizer.core.api import OptimizeTaskSerializer
from optimizer.hudi.maintenance.domain.tasks import Service, Step
from optimizer.hudi.planner.services.actions import (
    hudi_explain,
    hudi_pause,
    hudi_resume,
    service_ask,
)
from optimizer.hudi.tables.selectors.tables import get_hudi_for_user
from optimizer.policies.api.fields import OptimizerTablePolicySerializer
from optimizer.policies.api.policies import table_policy_settings
from portal.ui.api.old_names import OldNames
from portal.ui.api.operations import ApiView, operation
from portal.ui.api.serializers import ReasonSerializer

_MOST_INSTANTS = 1_000


class HudiStepDecisionSerializer(serializers.Serializer[Any]):
    """What was decided of a step of a service; of the whole table where there is no service."""

    service = serializers.CharField(read_only=True, allow_null=True)
    step = serializers.CharField(read_only=True, allow_null=True)
    code = serializers.CharField(read_only=True)
    reason = serializers.CharField(read_only=True)
    instants = serializers.ListField(child=serializers.CharField(), read_only=True)


class HudiProposalSerializer(serializers.Serializer[Any]):
    """A step that would be done now."""

    name = serializers.CharField(read_only=True)
    service = serializers.CharField(read_only=True)
    step = serializers.CharField(read_only=True)
    reason = serializers.CharField(read_only=True)
    instants = serializers.ListField(child=serializers.CharField(), read_only=True)
    needs_approval = serializers.BooleanField(
        read_only=True, help_text="it is listed first, and done once people approved the list"
    )


class HudiDecisionSerializer(OldNames, serializers.Serializer[Any]):
    """What would be done, first things first, and a decision on everything."""

    old_names = {
        "verdicts": "decisions",
    }

    proposals = HudiProposalSerializer(many=True, read_only=True)
    decisions = HudiStepDecisionSerializer(many=True, read_only=True)
    words = serializers.CharField(read_only=True)


class HudiServiceAskSerializer(ReasonSerializer):
    """Which step of which service, on which instants, and why."""

    service = serializers.ChoiceField(choices=[one.value for one in Service])
    step = serializers.ChoiceField(choices=[one.value for one in Step])
    instants = serializers.ListField(
        child=serializers.CharField(max_length=32),
        max_length=_MOST_INSTANTS,
        default=list,
        help_text="none: all that are pending, oldest first",
    )


class HudiPausedSerializer(OldNames, serializers.Serializer[Any]):
    """Whether a table's services are paused, by whom and why."""

    old_names = {"paused_why": "paused_reason"}

    id = serializers.IntegerField(read_only=True)
    db = serializers.CharField(read_only=True)
    table = serializers.CharField(read_only=True)
    is_paused = serializers.BooleanField(read_only=True)
    paused_by = serializers.CharField(read_only=True)
    paused_at = serializers.DateTimeField(read_only=True, allow_null=True)
    paused_reason = serializers.CharField(read_only=True)


class HudiPlan(ApiView):
    """A dry run."""

    @operation("optimizer_hudi_plan", answer=HudiDecisionSerializer)
    def get(self, table_id: int) -> object:
        """Say what would be done to the table now, and of everything else why not."""
        return hudi_explain(table_id, self.user, timezone.now())


class HudiService(ApiView):
    """A step of a service now."""

    @operation(
        "optimizer_hudi_service",
        body=HudiServiceAskSerializer,
        answer=OptimizeTaskSerializer,
        status=202,
    )
    def post(self, table_id: int) -> object:
        """Queue a step for the next run; what takes something away is listed for approval first."""
        data = self.data
        return service_ask(
            table_id,
            service=Service(data["service"]),
            step=Step(data["step"]),
            instants=tuple(data["instants"]),
            user=self.user,
            reason=data["reason"],
            now=timezone.now(),
        )


class HudiPause(ApiView):
    """Pausing a table's services."""

    @operation("optimizer_hudi_pause", body=ReasonSerializer, answer=HudiPausedSerializer)
    def post(self, table_id: int) -> object:
        """Have nothing begun on the table; a run that is under way goes on."""
        reason = self.data["reason"]
        return hudi_pause(table_id, user=self.user, reason=reason, now=timezone.now())


class HudiResume(ApiView):
    """Resuming a table's services."""

    @operation("optimizer_hudi_resume", body=ReasonSerializer, answer=HudiPausedSerializer)
    def post(self, table_id: int) -> object:
        """Let the table be served again, and have it inspected."""
        reason = self.data["reason"]
        return hudi_resume(table_id, user=self.user, reason=reason, now=timezone.now())


class HudiTablePolicy(ApiView):
    """The policy of one Hudi table."""

    @operation("optimizer_hudi_tables_policy", answer=OptimizerTablePolicySerializer)
    def get(self, table_id: int) -> object:
        """Return every setting as it holds for the table now, with the scope that says so."""
        return table_policy_settings(get_hudi_for_user(table_id, self.user))
