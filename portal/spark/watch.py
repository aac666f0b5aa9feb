"""Reports a Spark job's progress and checks for cancellation, beside the running action."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from portal.lake.counts import count_words
from portal.lake.errors import PortalError
from portal.spark.job import JobContext

_SECONDS = 2.0
_LEAST_SECONDS, _LEAST_TASKS, _LEAST_SHARE = 10.0, 4, 0.1
_MINUTE = 60


@dataclass(frozen=True, slots=True)
class Stages:
    """What Spark says of the stages that run now."""

    ids: tuple[int, ...] = ()
    done: int = 0
    """Tasks that ended."""
    total: int = 0
    n_rows: int = 0
    """Rows that they have read, as far as Spark has counted them."""


def seconds_left(stages: Stages, *, seconds: float) -> float | None:
    """Return how long the stages go on if their tasks take as long as those that ended.

    None where too few have ended to say so: the first tasks are the slowest.
    """
    is_known = stages.done >= max(_LEAST_TASKS, _LEAST_SHARE * stages.total)
    if not is_known or seconds < _LEAST_SECONDS:
        return None
    return seconds * (stages.total - stages.done) / stages.done


def stage_words(stages: Stages, *, seconds: float) -> str:
    """Say what the running stages have read, and how long they go on, where that is known."""
    words = []
    if stages.n_rows:
        words.append(f"{count_words(stages.n_rows, 'row')} read")
    left = seconds_left(stages, seconds=seconds)
    if left is not None:
        minutes = round(left / _MINUTE)
        about = f"about {count_words(minutes, 'minute')}" if minutes else "less than a minute"
        words.append(f"{about} left in this stage")
    return ", ".join(words)


@dataclass
class Watch:
    """The phase that is watched; it may change while the body runs."""

    job: JobContext
    phase: str
    message: str = ""
    _ended: threading.Event = field(default_factory=threading.Event)
    _ids: tuple[int, ...] = ()
    _began: float = 0.0

    def begin(self, phase: str) -> None:
        """Go on with another phase.

        Raises:
            StaleState: `run.cancelled`.
        """
        self.job.check_control()
        self.phase = phase
        self.job.progress(phase, message=self.message)

    def follow(self) -> None:
        """Write progress by tasks until the body ends, and cancel its Spark jobs when asked to."""
        before = Stages()
        while not self._ended.wait(_SECONDS):
            try:
                if self.job.control().get("cancel"):
                    self.job.spark.sparkContext.cancelAllJobs()
                    return
                now = _stages(self.job)
                if now != before and now.total:
                    self._tell(now)
                before = now
            except PortalError:
                continue  # the spool did not answer; the action itself goes on

    def end(self) -> None:
        """Stop following."""
        self._ended.set()

    def _tell(self, stages: Stages) -> None:
        if stages.ids != self._ids:
            self._ids, self._began = stages.ids, time.monotonic()
        words = stage_words(stages, seconds=time.monotonic() - self._began)
        self.job.progress(self.phase, stages.done, stages.total, self.message, passing=words)


@contextmanager
def watched(job: JobContext, phase: str, message: str = "") -> Iterator[Watch]:
    """Write progress by tasks while the body runs, and cancel its Spark jobs when asked to.

    Raises:
        StaleState: `run.cancelled`, instead of Spark's own error, when the run was cancelled.
    """
    watch = Watch(job, phase, message)
    watch.begin(phase)
    watcher = threading.Thread(target=watch.follow, daemon=True)
    watcher.start()
    try:
        yield watch
    except Exception:
        job.check_control()
        raise
    finally:
        watch.end()
        watcher.join(timeout=10)


def _stages(job: JobContext) -> Stages:
    context: Any = job.spark.sparkContext
    rows = context._jsc.sc().statusStore().activeStages()
    found = [rows.apply(n) for n in range(rows.size())]
    return Stages(
        tuple(sorted(one.stageId() for one in found)),
        sum(one.numCompleteTasks() for one in found),
        sum(one.numTasks() for one in found),
        sum(one.inputRecords() for one in found),
    )
