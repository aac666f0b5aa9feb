"""API reads of the savings."""

from typing import ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from lifecycle.backup.models import Savings
from lifecycle.restore.selectors.savings import SAVINGS_ORDERS, SavingsFilter, savings_visible
from portal.ui.api.pages import keyset_response
from portal.ui.api.serializers import page_of
from portal.ui.api.views import list_parameters
from portal.ui.frame.context import current_lake, person


class SavingsSerializer(serializers.ModelSerializer[Savings]):
    """What drops of one owner's tables in one database came to."""

    class Meta:
        model = Savings
        fields: ClassVar = [
            *("table_owner", "db", "n_dropped", "n_restored", "dropped_bytes", "restored_bytes"),
            *("waiting_bytes", "purged_bytes"),
        ]


class SavingsList(APIView):
    """Savings."""

    @extend_schema(
        operation_id="savings_list",
        responses=page_of("Savings", SavingsSerializer),
        parameters=list_parameters("owner", "db"),
    )
    def get(self, request: Request) -> Response:
        """List what drops took out of the lake, by owner and database."""
        return keyset_response(
            request,
            savings_visible(current_lake(request), person(request)),
            filter_class=SavingsFilter,
            orders=SAVINGS_ORDERS,
            show=lambda row: dict(SavingsSerializer(row).data),
        )
