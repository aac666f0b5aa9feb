"""Holds a driver amid its work until the delegation tokens that it began with are over.

Only its Python waits: the JVM beside it gets new tokens meanwhile, as it does amid long work.
"""

import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

import psutil
import pytest

from portal.runs.kinds.registry import RunKind
from portal.runs.models import Run

# After this a delegation token has to be renewed, and after twice that it is over.
TOKEN_SECONDS = 22
_MARGIN_SECONDS = 2.0


@dataclass
class Hold:
    """Stops a driver as soon as its job says what it does, or where the job stops by itself."""

    phase: str = ""
    """Which phase the job has to have begun."""
    stops_itself: bool = False
    meanwhile: Callable[[], object] = lambda: None
    """What happens while the driver waits."""
    seconds: float = field(default=0.0, init=False)
    """For how long it waited."""
    _is_over: Event = field(default_factory=Event, init=False)

    @contextmanager
    def of(self, run: Run) -> Iterator[None]:
        """Hold the driver that this run submits while it is followed to its end."""
        submitted = time.monotonic()
        with ThreadPoolExecutor(1) as beside:
            holding = beside.submit(self._hold, str(run.pk), submitted)
            try:
                yield
            finally:
                self._is_over.set()
            holding.result()
        assert self.seconds >= TOKEN_SECONDS, "the run ended before it was held"

    def _hold(self, run: str, submitted: float) -> None:
        while (driver := _driver_of(run)) is None:
            if self._is_over.wait(0.3):
                return
        while not self._is_amid_work(driver):
            if self._is_over.wait(0.05):
                return
        stopped = time.monotonic()
        driver.suspend()
        try:
            self.meanwhile()
            # Nobody renews what the driver's JVM got for itself; YARN renews what came with the
            # submission, once.
            until = max(stopped + TOKEN_SECONDS, submitted + 2 * TOKEN_SECONDS) + _MARGIN_SECONDS
            self._is_over.wait(until - time.monotonic())
            self.seconds = time.monotonic() - stopped
        finally:
            with suppress(psutil.NoSuchProcess):
                driver.resume()

    def _is_amid_work(self, driver: psutil.Process) -> bool:
        try:
            if self.stops_itself:
                return driver.status() == psutil.STATUS_STOPPED
            # The JVM gets what Python writes.
            written = Path(f"/proc/{driver.ppid()}/fd/1").read_bytes()
            said = re.compile(rf"^20\d\d-\S+\+00:00 {self.phase}".encode(), re.MULTILINE)
            return said.search(written) is not None
        except (OSError, psutil.NoSuchProcess):
            return False


def stop_at(patch: pytest.MonkeyPatch, kind: RunKind, step: str) -> None:
    """Let the drivers of a kind stop themselves when they reach a step."""
    environment = kind.environment
    failpoint = {"LW_FAILPOINT": f"{step}:stop", "LW_FAILPOINTS_ENABLED": "1"}
    patch.setattr(kind, "environment", lambda run: {**environment(run), **failpoint})


def _driver_of(run: str) -> psutil.Process | None:
    """Return the Python process of a run's driver, on YARN or on this host."""
    for process in psutil.process_iter():
        with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
            words = process.cmdline()
            if len(words) > 3 and Path(words[1]).name == "entry.py" and f"/{run}/" in words[3]:
                return process
    return None
