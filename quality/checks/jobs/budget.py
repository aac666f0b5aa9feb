"""Runs queries of a table within seconds; what takes longer is cancelled on the cluster."""

import itertools
import time
from collections.abc import Callable
from typing import Any, TypeVar

from pyspark import InheritableThread
from pyspark.sql import SparkSession

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
        answers: list[Answer] = []
        errors: list[BaseException] = []

        def work() -> None:
            self._context.setJobGroup(group, "check", interruptOnCancel=True)
            try:
                answers.append(query())
            except BaseException as error:
                errors.append(error)

        thread = InheritableThread(target=work, daemon=True)
        thread.start()
        self._wait(thread, group, seconds)
        if errors:
            raise errors[0]
        return answers[0]

    def _wait(self, thread: Any, group: str, seconds: float) -> None:
        ends = time.monotonic() + seconds
        while thread.is_alive():
            left = ends - time.monotonic()
            if left <= 0:
                self._cancel(thread, group)
                raise Unmeasured(Reason.TIMED_OUT, f"It was cancelled after {seconds:.0f} s.")
            thread.join(min(_LOOK_SECONDS, left))
            try:
                self._check()
            except Exception:
                self._cancel(thread, group)
                raise

    def _cancel(self, thread: Any, group: str) -> None:
        # Jobs that a query starts after the first was cancelled are cancelled as well.
        ends = time.monotonic() + _CANCEL_SECONDS
        while thread.is_alive() and time.monotonic() < ends:
            self._context.cancelJobGroup(group)
            thread.join(_LOOK_SECONDS)
