"""The run that compares a pipeline's tables with their source."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from pipelines.cdc.reconciling.services.requests import passwords_of, request_of
from pipelines.cdc.reconciling.services.results import comparisons_take, differences_tell
from pipelines.cdc.reconciling.services.schedules import KIND
from portal.lake.counts import count_words
from portal.runs.kinds.registry import RunKind, register
from portal.runs.models import Run
from portal.runs.records.logs import run_log


class CompareKind(RunKind):
    """Reads tables of a source and of the lake, and says which rows differ; it changes nothing."""

    name = KIND
    title = "Compare captured tables with their source"
    job = "pipelines.cdc.reconciling.jobs.reconcile"
    queue = "scan"
    yields = True
    results_pass = True
    attempts = 1  # the next day's compares again

    def request(self, run: Run) -> dict[str, Any]:
        """Say which tables are compared, and how."""
        return {"reconcile": request_of(run)}

    def environment(self, run: Run) -> dict[str, str]:
        """Return the job the passwords of the source and of Kafka."""
        return passwords_of(run)

    longest = timedelta(hours=20)

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Take in each table that was compared, also of a run that did not come to its end."""
        if not run.spool:
            return
        now = timezone.now()
        n_tables = comparisons_take(run, now=now)
        n_told = differences_tell(run.lake, now=now)
        text = f"{count_words(n_tables, 'table')} compared."
        if n_told:
            text += f" People were told of {count_words(n_told, 'table')} that differ."
        run_log(run, text, now=now)


def register_compare_kind() -> None:
    """Tell the platform of the run of this file."""
    register(CompareKind())
