"""API to accept a scan that stopped because the lake had shrunk, equivalent to its page.

Accepting needs a session whose password was given in the last 15 minutes.
"""

from uuid import UUID

from django.utils import timezone

from lifecycle.inventory.services.scan_acceptance import scan_accept_smaller
from portal.ui.api.operations import ApiView, operation
from portal.ui.api.serializers import ReasonSerializer, RunSerializer


class ScanAcceptSmaller(ApiView):
    """A scan that stopped because half of the lake or more was gone."""

    @operation("scan_accept_smaller", body=ReasonSerializer, answer=RunSerializer, status=201)
    def post(self, run_id: UUID) -> object:
        """Take the smaller lake for true in one new scan (admins, with a reason)."""
        reason = self.data["reason"]
        return scan_accept_smaller(
            run_id,
            user=self.user,
            reason=reason,
            authenticated_at=self.authenticated_at,
            now=timezone.now(),
        )
