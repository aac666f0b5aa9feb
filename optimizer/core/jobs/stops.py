"""Stops of a run or of one task of it, as a job sees them."""

from optimizer.core.domain.tasks import LEAVE_OUT, STOPPED
from portal.lake.errors import StaleState
from portal.spark.job import CANCELLED, JobContext

STOPS = frozenset({CANCELLED, STOPPED})
"""Codes of errors that people want: nothing more is done, and nothing failed."""


def check_stop(job: JobContext, task: int) -> None:
    """Stop here if the run was cancelled, or this task of it.

    Raises:
        StaleState: `run.cancelled` or `task.cancelled`.
    """
    job.check_control()
    if task in job.control().get(LEAVE_OUT, ()):
        raise StaleState(STOPPED, "The task was cancelled while it ran; nothing more was done.")
