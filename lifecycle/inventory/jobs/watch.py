"""Reports a Spark job's progress and checks for cancellation, beside the running action."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from portal.lake.errors import PortalError
from portal.spark.job import JobContext

_SECONDS = 2.0


@contextmanager
def watched(job: JobContext, phase: str) -> Iterator[None]:
    """Write progress by tasks while the body runs, and cancel its Spark jobs when asked to.

    Raises:
        StaleState: `run.cancelled`, instead of Spark's own error, when the run was cancelled.
    """
    job.check_control()
    job.progress(phase)
    ended = threading.Event()
    watcher = threading.Thread(target=_watch, args=(job, phase, ended), daemon=True)
    watcher.start()
    try:
        yield
    except Exception:
        job.check_control()
        raise
    finally:
        ended.set()
        watcher.join(timeout=10)


def _watch(job: JobContext, phase: str, ended: threading.Event) -> None:
    context = job.spark.sparkContext
    before = (0, 0)
    while not ended.wait(_SECONDS):
        try:
            if job.control().get("cancel"):
                context.cancelAllJobs()
                return
            now = _tasks(job)
            if now != before and now[1]:
                job.progress(phase, now[0], now[1])
            before = now
        except PortalError:
            continue  # the spool did not answer; the action itself goes on


def _tasks(job: JobContext) -> tuple[int, int]:
    tracker = job.spark.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    known = [stage for stage in stages if stage is not None]
    return (
        sum(stage.numCompletedTasks for stage in known),
        sum(stage.numTasks for stage in known),
    )
