"""What a program can ask of quarantines: to have the files of a list brought back."""

from uuid import UUID

from django.utils import timezone

from optimizer.iceberg.maintenance.services.quarantines import quarantine_return
from optimizer.removals.api import RemovalPlanDetailSerializer, removal_shown
from portal.ui.api.operations import ApiView, operation


class RemovalBringBack(ApiView):
    """Bringing files back from quarantine."""

    @operation("optimizer_removals_bring_back", answer=RemovalPlanDetailSerializer)
    def post(self, removal_id: UUID) -> object:
        """Have all files of a list moved back to where they were; nothing is written over."""
        return removal_shown(
            quarantine_return(removal_id, user=self.user, now=timezone.now()), self.user
        )
