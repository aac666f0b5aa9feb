"""The mode of a database, and what OBSERVE would have dropped, over the API."""

from django.utils import timezone

from lifecycle.core.domain.modes import DatabaseMode
from lifecycle.databases.selectors.dry_run import dry_run_of
from lifecycle.databases.services.modes import ModeChange, database_mode_change
from lifecycle.inventory.api.serializers import (
    DryRunSerializer,
    ModeChangeSerializer,
    ModeSerializer,
)
from lifecycle.inventory.selectors.findings import get_database_for_user
from portal.ui.api.operations import LAKE, ApiView, operation


class DatabaseModeView(ApiView):
    """How far a database is trusted."""

    @operation(
        "database_mode_change", body=ModeChangeSerializer, answer=ModeSerializer, parameters=LAKE
    )
    def post(self, db: str) -> object:
        """Move a database to another mode (admins)."""
        get_database_for_user(self.lake, db, user=self.user)
        data = self.data
        change = ModeChange(
            self.lake, db, DatabaseMode(data["seen"]), DatabaseMode(data["wanted"]), data["reason"]
        )
        return database_mode_change(change, user=self.user, now=timezone.now())


class DryRunList(ApiView):
    """What OBSERVE would have dropped."""

    @operation("shadow_list", answer=DryRunSerializer, many=True, parameters=LAKE)
    def get(self, db: str) -> object:
        """Return the database's record of at most 30 days, oldest first."""
        get_database_for_user(self.lake, db, user=self.user)
        return dry_run_of(self.lake, db)
