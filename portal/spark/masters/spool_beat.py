"""Heartbeat of a driver on a cluster: two counters in its spool, which the portal sees grow.

The thread that writes them also copies the driver's output, for drivers that end without a word.

Counters instead of times, because the hosts' clocks may differ: the portal takes the time from the
last change that it saw.
"""

import contextlib
import threading
from collections.abc import Callable

from portal.lake.errors import PortalError
from portal.spark.masters.driver_output import DriverOutput
from portal.spark.spool import Spool

BEAT_SECONDS = 5.0
_BEATS_A_COPY = 2
_CLOSE_SECONDS = 30.0


class SpoolBeat:
    """Beats until the process ends: one thread for Python, one that asks the JVM once there is one.

    Its spool is for itself alone: another thread may wait for the file system in the job's own.
    """

    def __init__(
        self, spool: Spool, output: DriverOutput, *, seconds: float = BEAT_SECONDS
    ) -> None:
        self._spool = spool
        self._output = output
        self._seconds = seconds
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._driver = 0
        self._jvm: int | None = None
        self._start(self._beat)

    def ask_jvm(self, ask: Callable[[], object]) -> None:
        """From now on count the JVM's answers."""
        self._jvm = 0
        self._start(lambda: self._ask(ask))

    def close(self) -> None:
        """Stop beating, and wait for a beat that is on its way; twice is harmless.

        A thread that is in the client of HDFS when Python ends aborts the process, and YARN would
        call a driver failed that has done its work.
        """
        self._stop.set()
        for thread in self._threads:
            thread.join(timeout=_CLOSE_SECONDS)

    def _start(self, target: Callable[[], None]) -> None:
        thread = threading.Thread(target=target, name="heartbeat", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _beat(self) -> None:
        while not self._stop.wait(self._seconds):
            self._driver += 1
            # A file system that fails is seen by the job itself, which says so.
            with contextlib.suppress(PortalError):
                self._spool.write_beat({"driver": self._driver, "jvm": self._jvm})
            if self._driver % _BEATS_A_COPY == 1:
                self._output.copy(self._spool)

    def _ask(self, ask: Callable[[], object]) -> None:
        while not self._stop.wait(self._seconds):
            # The job itself meets a JVM that has gone, and says so.
            with contextlib.suppress(Exception):
                ask()
                self._jvm = (self._jvm or 0) + 1
