"""The run that advances layers."""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from pipelines.incremental.services.requests import KIND, earlier_run, request_of
from pipelines.incremental.services.results import results_take, runs_failed
from portal.lake.counts import count_words
from portal.runs.kinds.registry import RunKind, register, write_cancel
from portal.runs.models import Run
from portal.runs.records.logs import run_log
from portal.safety.selectors import emergency_stop_wait
from portal.safety.services import tell_stop


class LayerKind(RunKind):
    """Reads the changes of sources and writes them into targets, layer after layer.

    It is no acting kind: a commit of a target happens or does not, and names the positions of its
    sources, so whoever comes after goes on there.
    """

    name = KIND
    title = "Advance layers"
    job = "pipelines.incremental.jobs.advance"
    writes_tables = True
    results_pass = True
    attempts = 3
    longest = timedelta(hours=12)

    def request(self, run: Run) -> dict[str, Any]:
        """Say which layers are advanced, in their order."""
        return {"layers": request_of(run)}

    def waits(self, run: Run, *, now: datetime) -> str:
        """Wait for an earlier run of the lake, and while the emergency stop is on."""
        if earlier_run(run):
            return "Another run advances layers of this lake; a target has one writer at a time."
        return emergency_stop_wait(run.lake)

    def beat(self, run: Run) -> None:
        """Tell it of the emergency stop, or that it was cancelled."""
        if not tell_stop(run):
            write_cancel(run)

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Take in each layer that was advanced, also of a run that did not come to its end."""
        now = timezone.now()
        n_layers = results_take(run) if run.spool else 0
        text = f"{count_words(n_layers, 'layer')} looked at."
        if manifest.get("outcome") != "done":
            problem = f"It was not advanced: the run {run.pk} did not come to its end."
            n_left = runs_failed(run, problem, now=now)
            text += f" {count_words(n_left, 'layer')} not."
        run_log(run, text, now=now)


def register_layer_kind() -> None:
    """Tell the platform of the run of this file."""
    register(LayerKind())
