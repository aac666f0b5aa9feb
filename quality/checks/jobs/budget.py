"""Runs queries of a table within seconds; what takes longer is cancelled on the cluster."""

import itertools
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from pyspark.sql import SparkSession

from portal.lake.errors import PortalError
from quality.checks.domain.reasons import Reason
from quality.checks.jobs.errors import Unmeasured

Answer = TypeVar("Answer")
_LOOK_SECONDS = 0.5
_CANCEL_SECONDS = 30
_NUMBERS = itertools.count(1)


class Budget:
    """How long a table's queries may take together; `check` raises where the run was cancelled."""

    def __init__(
        self, spark: SparkSession, seconds: float, *, check: Callable[[], None] = lambda: None
    ) -> None:
        self._context: Any = spark.sparkContext
        self._ends = time.monotonic() + seconds
        self._check = check

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self._ends - time.monotonic()

    def run(self, query: Callable[[], Answer], *, most: float | None = None) -> Answer:
        """Return what a query returns.

        Raises:
            Unmeasured: `timed_out`; its Spark jobs are cancelled.
        """
        seconds = self.left if most is None else min(most, self.left)
        group = f"lw-check-{next(_NUMBERS)}"

        def work() -> Answer:
            self._context.setJobGroup(group, "check", interruptOnCancel=True)
            return query()

        pool = ThreadPoolExecutor(1)
        try:
            future = pool.submit(work)
            try:
                return self._answer(future, seconds)
            except (Unmeasured, PortalError):
                self._cancel(future, group)
                raise
        finally:
            pool.shutdown(wait=False)

    def _answer(self, future: Future[Answer], seconds: float) -> Answer:
        ends = time.monotonic() + seconds
        while not future.done():
            left = ends - time.monotonic()
            if left <= 0:
                raise Unmeasured(Reason.TIMED_OUT, f"It was cancelled after {seconds:.0f} s.")
            wait([future], min(_LOOK_SECONDS, left))
            self._check()
        return future.result()

    def _cancel(self, future: Future[Answer], group: str) -> None:
        # Jobs that a query starts after the first was cancelled are cancelled as well.
        ends = time.monotonic() + _CANCEL_SECONDS
        while not future.done() and time.monotonic() < ends:
            self._context.cancelJobGroup(group)
            wait([future], _LOOK_SECONDS)
