"""The policy of one Iceberg table, as it holds."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from optimizer.iceberg.tables.selectors.tables import get_table_for_user
from optimizer.policies.api.fields import (
    OptimizerTablePolicySerializer,
)
from optimizer.policies.api.policies import table_policy_response
from portal.ui.frame.context import person


class TablePolicy(APIView):
    """The policy of one table."""

    @extend_schema(operation_id="optimizer_tables_policy", responses=OptimizerTablePolicySerializer)
    def get(self, request: Request, table_id: int) -> Response:
        """Return every setting as it holds for the table now, with the scope that says so."""
        return table_policy_response(get_table_for_user(table_id, person(request)))
