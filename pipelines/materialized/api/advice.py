"""API of advice on materializations. It does all that the pages do."""

from dataclasses import fields
from typing import Any, ClassVar

from django.utils import timezone
from rest_framework import serializers

from pipelines.materialized.api.serializers import MaterializationSerializer, WantedSerializer
from pipelines.materialized.selectors.advice import (
    ADVICE_ORDERS,
    MaterializationAdviceFilter,
    advice_visible,
    get_advice_for_user,
)
from pipelines.materialized.services.advice_decisions import (
    advice_define,
    advice_dismiss,
    advice_pause,
)
from pipelines.materialized.services.definitions import LONGEST_SQL, Wanted
from pipelines.models import MaterializationAdvice
from portal.lake.reasons import MOST_SIGNS
from portal.ui.api.operations import ApiView, operation
from portal.ui.api.pages import KeysetList, Rows


class MaterializationAdviceSerializer(serializers.ModelSerializer[MaterializationAdvice]):
    """A materialization that repeated queries speak for, or one to pause."""

    table = serializers.CharField(source="facts", help_text="of facts, as db.table")
    materialization = serializers.PrimaryKeyRelatedField[Any](
        read_only=True, allow_null=True, help_text="that came of it, or that it gives up"
    )

    class Meta:
        model = MaterializationAdvice
        fields: ClassVar = [
            "id", "lake", "table", "state", "gives_up", "name", "sql", "reason", "n_queries",
            "n_days", "n_bytes", "seconds", "groupings", "materialization", "made_at",
            "confirmed_at", "decided_by", "decided_at", "why", "measured_from", "n_asked",
            "n_answered",
        ]  # fmt: skip


class DefineAdvisedSerializer(WantedSerializer):
    """What is defined, and under which name: that of the advice or another."""

    name = serializers.CharField(max_length=257, help_text="db.table of the result")
    sql = serializers.CharField(max_length=LONGEST_SQL, required=False, help_text="else as advised")


class AdviceReasonSerializer(serializers.Serializer[Any]):
    """Why."""

    reason = serializers.CharField(max_length=MOST_SIGNS)


class AdviceList(KeysetList):
    """Advice on materializations."""

    operation_id = "materialization_advice_list"
    page_name = "MaterializationAdvice"
    serializer_class = MaterializationAdviceSerializer
    filterset_class = MaterializationAdviceFilter
    orders = ADVICE_ORDERS

    def get_queryset(self) -> Rows:
        """List the advice on materializations, for admins and operators."""
        return advice_visible(self.lake, self.user)


class AdviceDetail(ApiView):
    """One advice."""

    @operation("materialization_advice_get", answer=MaterializationAdviceSerializer)
    def get(self, number: int) -> object:
        """Return an advice with the queries that speak for it, without their constants."""
        return get_advice_for_user(number, self.user)


class AdviceDefine(ApiView):
    """Defining what is advised."""

    @operation(
        "materialization_advice_define",
        body=DefineAdvisedSerializer,
        answer=MaterializationSerializer,
        status=201,
    )
    def post(self, number: int) -> object:
        """Define the materialization that is advised; it is computed soon."""
        found, data = get_advice_for_user(number, self.user), self.data
        wanted = {"sql": found.sql, **data}
        return advice_define(
            found,
            data["name"],
            Wanted(**{one.name: wanted[one.name] for one in fields(Wanted)}),
            user=self.user,
            now=timezone.now(),
        )


class AdvicePause(ApiView):
    """Pausing what nobody reads."""

    @operation("materialization_advice_pause", body=AdviceReasonSerializer, status=204)
    def post(self, number: int) -> None:
        """Pause the materialization that no query reads."""
        found = get_advice_for_user(number, self.user)
        advice_pause(found, user=self.user, why=self.data["reason"], now=timezone.now())


class AdviceDismiss(ApiView):
    """Dismissing advice."""

    @operation("materialization_advice_dismiss", body=AdviceReasonSerializer, status=204)
    def post(self, number: int) -> None:
        """Dismiss an advice; the same comes again after four weeks at the earliest."""
        found = get_advice_for_user(number, self.user)
        advice_dismiss(found, user=self.user, why=self.data["reason"], now=timezone.now())
