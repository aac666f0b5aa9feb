"""Context of a job: its request, the spool, progress, and the check for a stop."""

import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import SparkSession

from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import ExternalFailure, StaleState
from portal.settings.logs import FORMAT_VARIABLE
from portal.spark.spool import Progress, Spool

CANCELLED = "run.cancelled"
LOGGER = "lakewarden.job"
"""Of the job's own lines, where the portal writes its log as JSON."""
_LOG_LINES = 200
_CONTROL_SECONDS = 1.0
_PROGRESS_SECONDS = 5.0


@dataclass
class JobContext:
    """The surroundings of one epoch of one run, inside the driver."""

    run: str
    epoch: int
    config: LakeConfig
    params: dict[str, Any]
    now: datetime
    spool: Spool
    spark: SparkSession
    application_id: str = ""
    log_lines: deque[str] = field(default_factory=lambda: deque(maxlen=_LOG_LINES))
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _steps: int = 0
    _phase: str = ""
    _step_written: float = float("-inf")
    _ask_jvm: Callable[[], Any] | None = None
    _control: dict[str, Any] = field(default_factory=dict)
    _control_read: float = float("-inf")

    def progress(
        self, phase: str, done: int = 0, total: int = 0, message: str = "", *, passing: str = ""
    ) -> None:
        """Say how far the job is: one more numbered file, and a line in the process's output.

        The portal takes the numbered files into the run's log; the manifest does not repeat them.
        Within a phase there is a file at most every few seconds: on HDFS each costs half a second,
        and the portal reads them all. Threads may call it at once.
        """
        _say(f"{phase} {done}/{total or '?'} {message}".rstrip())
        with self._lock:
            self._progress(phase, (done, total), message, passing)

    def _progress(self, phase: str, tally: tuple[int, int], message: str, passing: str) -> None:
        done, total = tally
        elapsed = time.monotonic() - self._step_written
        if phase == self._phase and done != total and elapsed < _PROGRESS_SECONDS:
            return
        self._steps += 1
        step = Progress.make(
            self._steps,
            phase=phase,
            done=done,
            total=total,
            message=message,
            at=datetime.now(UTC),
        )
        step = replace(step, application_id=self.application_id, passing=passing)
        self.spool.write_progress(step)
        self._phase, self._step_written = phase, time.monotonic()

    def log(self, text: str) -> None:
        """Add a line to the log: the process's output, and the manifest's last lines."""
        self.log_lines.append(_say(text))

    def control(self, *, fresh: bool = False) -> dict[str, Any]:
        """Return what the portal asks now; read at most once a second unless `fresh`."""
        if fresh or time.monotonic() - self._control_read >= _CONTROL_SECONDS:
            self._control = self.spool.read_control()
            self._control_read = time.monotonic()
        return self._control

    def check_control(self) -> None:
        """Stop here if the run was cancelled.

        Raises:
            StaleState: `run.cancelled`; the outer door turns it into the outcome `cancelled`.
        """
        if self.control().get("cancel"):
            raise StaleState(CANCELLED, "The run was cancelled; nothing more was done.")

    def check_jvm(self) -> None:
        """Make sure that the JVM of this driver lives (journal.md J4, before acting).

        Raises:
            ExternalFailure: `spark.jvm_gone`.
        """
        try:
            if self._ask_jvm is None:
                # Kept, because each name on the way to it is a question of its own to the JVM.
                self._ask_jvm = self.spark._jvm.java.lang.System.nanoTime  # type: ignore[union-attr]  # typed Optional, set by the session
            self._ask_jvm()
        except Exception as error:
            raise ExternalFailure(
                "spark.jvm_gone",
                "The driver's JVM has gone; the run stops before its next step.",
                service="spark",
                retryable=False,
            ) from error


def _say(text: str) -> str:
    """Print a line with its instant and return it."""
    line = f"{datetime.now(UTC).isoformat(timespec='seconds')} {text}"
    if os.environ.get(FORMAT_VARIABLE) == "json":
        logging.getLogger(LOGGER).info("%s", text)
    else:
        print(line, flush=True)  # noqa: T201  (the driver's output is the run's log file)
    return line
