"""The run that refreshes materializations."""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from pipelines.materialized.services.requests import KIND, earlier_run, request_of
from pipelines.materialized.services.results import refreshes_failed, refreshes_take
from portal.lake.counts import count_words
from portal.runs.kinds.registry import RunKind, register
from portal.runs.models import Run
from portal.runs.records.logs import run_log
from portal.safety.selectors import emergency_stop_wait
from portal.safety.services import tell_stop


class MaterializeKind(RunKind):
    """Brings materializations up to date, one run of a lake at a time.

    It is no acting kind: a commit of a table happens or does not, and names the commits of the
    sources that it has, so whoever comes after goes on from there.
    """

    name = KIND
    title = "Refresh materializations"
    job = "pipelines.materialized.jobs.materialize"
    writes_tables = True
    results_pass = True
    longest = timedelta(hours=12)

    def request(self, run: Run) -> dict[str, Any]:
        """Say which materializations are refreshed, and how."""
        return {"materialize": request_of(run)}

    def waits(self, run: Run, *, now: datetime) -> str:
        """Wait while the emergency stop is on, and for a run that came first."""
        waiting = emergency_stop_wait(run.lake)
        if waiting:
            return waiting
        first = earlier_run(run)
        return f"Run {first.pk} refreshes first." if first is not None else ""

    def beat(self, run: Run) -> None:
        """Say that it has to end, if it has to."""
        if run.spool and not tell_stop(run):
            super().beat(run)

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Take in each refresh, also of a run that did not come to its end."""
        now = timezone.now()
        n_taken = refreshes_take(run, now=now) if run.spool else 0
        text = f"{count_words(n_taken, 'refresh', many='refreshes')} taken in."
        if manifest.get("outcome") != "done":
            problem = f"It was not refreshed: the run {run.pk} did not come to its end."
            n_left = refreshes_failed(run, problem, now=now)
            text += f" {count_words(n_left, 'materialization')} not refreshed."
        run_log(run, text, now=now)


def register_materialize_kind() -> None:
    """Tell the platform of the run of this file."""
    register(MaterializeKind())
