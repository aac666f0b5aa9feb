"""The sums of what OBSERVE would have dropped, over the API."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from lifecycle.databases.selectors.shadow import (
    TABLES_SHOWN,
    shadow_of,
    shadow_summary,
    shadow_tables,
)
from lifecycle.inventory.api.findings import LAKE
from lifecycle.inventory.selectors.findings import get_database_for_user
from lifecycle.policies.api.serializers import (
    ShadowSummarySerializer,
)
from portal.ui.frame.context import current_lake, person


class ShadowSummary(APIView):
    """What OBSERVE would have done in a database."""

    @extend_schema(
        operation_id="shadow_summary_get", responses=ShadowSummarySerializer, parameters=LAKE
    )
    def get(self, request: Request, db: str) -> Response:
        """Return the sums of the record, and the tables of which most was used again."""
        lake = current_lake(request)
        get_database_for_user(lake, db, user=person(request))
        summary = shadow_summary(shadow_of(lake, db))
        names = ("n_days", "since", "until", "n_gone", "n_bytes_gone", "n_written", "n_read")
        shown = {
            **{name: getattr(summary, name) for name in (*names, "n_used", "percent_used")},
            "tables": list(shadow_tables(lake, db, limit=TABLES_SHOWN)),
        }
        return Response(ShadowSummarySerializer(shown).data)
