"""Registers the slow kind."""

import os
import time
from pathlib import Path
from typing import Any

from django.apps import AppConfig


class SlowWorkConfig(AppConfig):
    """Loaded by `tests.support.worker_settings`."""

    name = "tests.support.slow_work"
    label = "slow_work"

    def ready(self) -> None:
        """Register a kind that sleeps and writes down when it began and ended."""
        from portal.runs.kinds.registry import RunKind, register
        from portal.runs.models import Run

        class Slow(RunKind):
            """Sleeps for `seconds`; leaves a line in `trace` at its start and its end."""

            name = "test.slow"
            title = "Slow"
            queue = "scan"

            def execute(self, run: Run) -> dict[str, Any]:
                self._trace(run, "began")
                time.sleep(run.params["seconds"])
                self._trace(run, "ended")
                return {}

            def _trace(self, run: Run, what: str) -> None:
                with Path(run.params["trace"]).open("a", encoding="utf-8") as file:
                    file.write(f"{run.pk} {run.epoch} {what} {os.getpid()}\n")

        register(Slow())
