"""API of advice: what is advised and why, and what people decide on it."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from optimizer.advice.selectors import (
    ADVICE_ORDERS,
    AdviceFilter,
    advice_visible,
    evidence_for,
    get_advice_for_user,
    trials_of,
)
from optimizer.advice.services.decisions import advice_apply, advice_dismiss, advice_roll_back
from optimizer.advice.services.requests import advice_request
from optimizer.advice.services.trials import trial_request
from optimizer.iceberg.tables.selectors.tables import get_table_for_user
from optimizer.models import Advice, Trial
from portal.runs.models import Run
from portal.ui.api.operations import ApiView, operation
from portal.ui.api.pages import KeysetList, Rows
from portal.ui.api.serializers import ReasonSerializer

TRIALS_SHOWN = 10
ADVICE_FIELDS: tuple[str, ...] = (
    *(
        "id",
        "lake",
        "table_id",
        "table",
        "state",
        "subject",
        "gives_up",
        "proposed",
        "before",
        "expected",
    ),
    *("bytes_a_day", "rewrite_bytes", "n_scans", "n_days", "made_at", "confirmed_at"),
    *("decided_by", "decided_at", "reason", "applied_at", "measured_from"),
    *("n_before", "n_after", "measured", "trial_state"),
)


class AdviceSerializer(serializers.ModelSerializer[Advice]):
    """An advice, with what was decided."""

    lake = serializers.CharField(source="table.lake", read_only=True)
    table_id = serializers.IntegerField(read_only=True)
    table = serializers.CharField(read_only=True)
    measured = serializers.FloatField(
        read_only=True,
        allow_null=True,
        help_text="bytes planned a scan since, of one before: beside `expected`",
    )

    class Meta:
        model = Advice
        fields = ADVICE_FIELDS
        read_only_fields = fields


class AdviceTrialSerializer(serializers.ModelSerializer[Trial]):
    """A trial of the layout on a branch: the verdict with its interval, and what stands behind."""

    advice = serializers.IntegerField(source="advice_id", read_only=True)

    class Meta:
        model = Trial
        fields = (
            *("id", "advice", "state", "run", "requested_by", "requested_at", "reason"),
            *("ended_at", "seconds", "bytes_written", "saved", "low", "high", "n_queries"),
            *("n_worse", "outcome", "evidence", "branch", "cleaned_at", "cleanup"),
        )
        read_only_fields = fields


class AdviceDetailSerializer(AdviceSerializer):
    """The same with its evidence, and its trials, the newest first."""

    trials = serializers.SerializerMethodField()

    class Meta(AdviceSerializer.Meta):
        fields = (*ADVICE_FIELDS, "evidence", "trials")
        read_only_fields = fields

    @extend_schema_field(AdviceTrialSerializer(many=True))
    def get_trials(self, row: Advice) -> object:
        """Return the last trials."""
        return AdviceTrialSerializer(trials_of(row)[:TRIALS_SHOWN], many=True).data


class AdviceRunSerializer(serializers.ModelSerializer[Run]):
    """The run that looks at a table's scans; what it says is in `result` when it is done."""

    class Meta:
        model = Run
        fields = ("id", "state", "result", "error")
        read_only_fields = fields


class AdviceList(KeysetList):
    """Advice on tables of a lake."""

    operation_id = "optimizer_advice_list"
    serializer_class = AdviceSerializer
    filterset_class = AdviceFilter
    orders = ADVICE_ORDERS

    def get_queryset(self) -> Rows:
        """List the advice on tables that you may see."""
        return advice_visible(self.lake, self.user)


class AdviceDetail(ApiView):
    """One advice."""

    @operation("optimizer_advice_get", answer=AdviceDetailSerializer)
    def get(self, advice_id: int) -> object:
        """Return an advice with the scans or queries that it stands on and what was tried."""
        row = get_advice_for_user(advice_id, self.user)
        row.evidence = evidence_for(row, self.user)
        return row


class AdviceApply(ApiView):
    """Applying."""

    @operation("optimizer_advice_apply", body=ReasonSerializer, answer=AdviceSerializer)
    def post(self, advice_id: int) -> object:
        """Set the table's policy to what is advised, or define the cube; the optimizer builds."""
        row = get_advice_for_user(advice_id, self.user)
        return advice_apply(row, user=self.user, reason=self.data["reason"], now=timezone.now())


class AdviceTry(ApiView):
    """Trying on a branch."""

    @operation(
        "optimizer_advice_try", body=ReasonSerializer, answer=AdviceTrialSerializer, status=202
    )
    def post(self, advice_id: int) -> object:
        """Have a sample written in the layout on a branch and queries planned there by a run."""
        row = get_advice_for_user(advice_id, self.user)
        return trial_request(row, user=self.user, reason=self.data["reason"], now=timezone.now())


class AdviceDismiss(ApiView):
    """Dismissing."""

    @operation("optimizer_advice_dismiss", body=ReasonSerializer, answer=AdviceSerializer)
    def post(self, advice_id: int) -> object:
        """Put an advice aside for four weeks."""
        row = get_advice_for_user(advice_id, self.user)
        return advice_dismiss(row, user=self.user, reason=self.data["reason"], now=timezone.now())


class AdviceRollBack(ApiView):
    """Rolling back."""

    @operation("optimizer_advice_roll_back", body=ReasonSerializer, answer=AdviceSerializer)
    def post(self, advice_id: int) -> object:
        """Give the table's policy back what it had, or pause the cube; files stay as they lie."""
        row = get_advice_for_user(advice_id, self.user)
        return advice_roll_back(row, user=self.user, reason=self.data["reason"], now=timezone.now())


class TableAdvice(ApiView):
    """Asking for advice."""

    @operation("optimizer_advice_ask", answer=AdviceRunSerializer, status=202)
    def post(self, table_id: int) -> object:
        """Have a table's recorded scans looked at by a short run."""
        table = get_table_for_user(table_id, self.user)
        return advice_request(table, user=self.user, now=timezone.now())
