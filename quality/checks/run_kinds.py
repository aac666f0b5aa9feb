"""The run that measures tables for their checks."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from portal.lake.counts import count_words
from portal.runs.kinds.registry import RunKind, register
from portal.runs.models import Run
from portal.runs.records.logs import run_log
from quality.checks.services.requests import KIND, request_of
from quality.checks.services.results import results_take, runs_failed


class CheckKind(RunKind):
    """Reads tables of the lake and measures what their rules ask; it changes nothing."""

    name = KIND
    title = "Check the quality of tables"
    job = "quality.checks.jobs.measure"
    queue = "scan"
    yields = True
    results_pass = True
    attempts = 1  # the next one by schedule measures again
    longest = timedelta(hours=12)

    def request(self, run: Run) -> dict[str, Any]:
        """Say which windows of which tables are measured, and what of them."""
        return {"checks": request_of(run)}

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Take in each table that was measured, also of a run that did not come to its end."""
        now = timezone.now()
        n_tables = results_take(run) if run.spool else 0
        text = f"{count_words(n_tables, 'table')} measured and judged."
        if manifest.get("outcome") != "done":
            problem = f"It was not measured: the run {run.pk} did not come to its end."
            n_left = runs_failed(run, problem, now=now)
            text += f" {count_words(n_left, 'table')} not measured."
        run_log(run, text, now=now)


def register_check_kind() -> None:
    """Tell the platform of the run of this file."""
    register(CheckKind())
