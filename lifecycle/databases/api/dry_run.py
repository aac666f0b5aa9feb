"""The sums of what OBSERVE would have dropped, over the API."""

from lifecycle.databases.selectors.dry_run import (
    TABLES_SHOWN,
    dry_run_of,
    dry_run_summary,
    dry_run_tables,
)
from lifecycle.inventory.selectors.findings import get_database_for_user
from lifecycle.policies.api.serializers import DryRunSummarySerializer
from portal.ui.api.operations import LAKE, ApiView, operation


class DryRunSummary(ApiView):
    """What OBSERVE would have done in a database."""

    @operation("shadow_summary_get", answer=DryRunSummarySerializer, parameters=LAKE)
    def get(self, db: str) -> object:
        """Return the sums of the record, and the tables of which most was used again."""
        get_database_for_user(self.lake, db, user=self.user)
        summary = dry_run_summary(dry_run_of(self.lake, db))
        names = ("n_days", "since", "until", "n_gone", "n_bytes_gone", "n_written", "n_read")
        return {
            **{name: getattr(summary, name) for name in (*names, "n_used", "percent_used")},
            "tables": list(dry_run_tables(self.lake, db, limit=TABLES_SHOWN)),
        }
