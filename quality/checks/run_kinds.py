"""The runs that measure tables for their checks, and drafts of checks on past windows."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from portal.lake.counts import count_words
from portal.runs.kinds.registry import RunKind, register
from portal.runs.models import Run
from portal.runs.records.logs import run_log
from quality.checks.services.requests import KIND, request_of
from quality.checks.services.results import results_take, runs_failed
from quality.checks.services.samples import samples_take
from quality.checks.services.trials import KIND as TRIAL
from quality.checks.services.trials import trial_take, trial_task


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
        if run.spool:
            samples_take(run)
        text = f"{count_words(n_tables, 'table')} measured and judged."
        if manifest.get("outcome") != "done":
            problem = f"It was not measured: the run {run.pk} did not come to its end."
            n_left = runs_failed(run, problem, now=now)
            text += f" {count_words(n_left, 'table')} not measured."
        run_log(run, text, now=now)


class TrialKind(RunKind):
    """Measures a draft's metrics on past windows; it changes nothing, and nothing is a result."""

    name = TRIAL
    title = "Try checks on past partitions"
    job = "quality.checks.jobs.measure"
    queue = "scan"
    yields = True
    results_pass = True
    attempts = 1
    longest = timedelta(hours=2)

    def request(self, run: Run) -> dict[str, Any]:
        """Say what is measured of which windows."""
        return {"checks": trial_task(run)}

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Keep beside the draft what was measured."""
        trial_take(run, outcome=manifest.get("outcome", ""), now=timezone.now())


def register_check_kinds() -> None:
    """Tell the platform of the runs of this file."""
    register(CheckKind())
    register(TrialKind())
