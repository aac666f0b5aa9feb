"""API of path rule exceptions. An exception is requested by a policy request."""

from uuid import UUID

from django.utils import timezone

from lifecycle.policies.api.serializers import PathRuleExceptionSerializer
from lifecycle.policies.selectors.exception_lists import (
    EXCEPTION_ORDERS,
    PathRuleExceptionFilter,
    exceptions_visible,
)
from lifecycle.policies.services.exceptions import exception_end
from portal.access.lakes import get_lake
from portal.lake.clock import day_of
from portal.ui.api.operations import ApiView, operation
from portal.ui.api.pages import KeysetList, Rows
from portal.ui.api.serializers import ReasonSerializer


class ExceptionList(KeysetList):
    """Exceptions of path rules."""

    operation_id = "waivers_list"
    serializer_class = PathRuleExceptionSerializer
    filterset_class = PathRuleExceptionFilter
    orders = EXCEPTION_ORDERS

    def get_queryset(self) -> Rows:
        """List the exceptions that stand; `state=ended` gives those that are over, `all` both."""
        today = day_of(timezone.now(), get_lake(self.lake).zone)
        return exceptions_visible(self.lake, self.user, today=today)


class ExceptionEnd(ApiView):
    """Ending an exception."""

    @operation("waivers_end", body=ReasonSerializer, status=204)
    def post(self, waiver_id: UUID) -> None:
        """End an exception before its day."""
        reason = self.data["reason"]
        exception_end(self.lake, waiver_id, user=self.user, reason=reason, now=timezone.now())
