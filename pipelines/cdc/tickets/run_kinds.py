"""The run that counts how many rows of the lake a change of schema would lose."""

from datetime import timedelta
from typing import Any

from pipelines.cdc.tickets.services.dry_runs import DRY_RUN_KIND, dry_run_ingest
from portal.runs.kinds.registry import RunKind, register
from portal.runs.models import Run


class DryRunKind(RunKind):
    """Reads the lake's table once; nothing is written to the lake."""

    name = DRY_RUN_KIND
    title = "Count rows that a change of schema loses"
    job = "pipelines.cdc.tickets.jobs.dry_run"
    longest = timedelta(hours=4)

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Keep the counts on the ticket."""
        dry_run_ingest(run, manifest)


def register_dry_run_kind() -> None:
    """Tell the platform of the run of this file."""
    register(DryRunKind())
