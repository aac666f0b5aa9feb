"""API of owners' approvals to drop recently read data, equivalent to the page."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from rest_framework import serializers

from lifecycle.core.api.names import PartitionField
from lifecycle.models import DeletionConsent
from lifecycle.policies.selectors.deletion_consents import YES_ORDERS, YesFilter, yes_visible
from lifecycle.policies.services.deletion_consents import (
    ConsentParams,
    deletion_consent_give,
    deletion_consent_withdraw,
)
from portal.access.lakes import get_lake
from portal.lake.clock import day_of
from portal.ui.api.old_names import OldNames
from portal.ui.api.operations import ApiView, operation
from portal.ui.api.pages import KeysetList, Rows


class DeletionConsentSerializer(OldNames, serializers.ModelSerializer[DeletionConsent]):
    """An owner's yes with its last day."""

    old_names = {"said_at": "given_at", "said_by": "given_by"}

    id = serializers.UUIDField(source="public_id", read_only=True)

    class Meta:
        model = DeletionConsent
        fields = (
            *("id", "db", "table", "partition", "until", "reason", "given_by", "given_at"),
            *("ended_at", "ended_by"),
        )
        read_only_fields = fields


class ConsentParamsSerializer(serializers.Serializer[Any]):
    """What may go although it is recently read; without a partition all of the table."""

    db = serializers.CharField(max_length=128)
    table = serializers.CharField(max_length=256)
    partition = PartitionField(required=False, default="")
    until = serializers.DateField()
    reason = serializers.CharField(max_length=1000)


class YesList(KeysetList):
    """Owners' yeses to data that is recently read."""

    operation_id = "still_read_list"
    page_name = "DeletionConsent"
    serializer_class = DeletionConsentSerializer
    filterset_class = YesFilter
    orders = YES_ORDERS

    def get_queryset(self) -> Rows:
        """List the yeses that stand; `state=ended` gives those that are over, `all` both."""
        today = day_of(timezone.now(), get_lake(self.lake).zone)
        return yes_visible(self.lake, self.user, today=today)

    @operation(
        "still_read_create",
        body=ConsentParamsSerializer,
        answer=DeletionConsentSerializer,
        status=201,
    )
    def post(self) -> object:
        """Say that data of yours may go although it is recently read; nobody says it for you."""
        return deletion_consent_give(
            self.lake, ConsentParams(**self.data), user=self.user, now=timezone.now()
        )


class YesEnd(ApiView):
    """Taking a yes back."""

    @operation("still_read_end", status=204)
    def post(self, yes_id: UUID) -> None:
        """Take a yes back; a plan that is created already is not touched."""
        deletion_consent_withdraw(self.lake, yes_id, user=self.user, now=timezone.now())
