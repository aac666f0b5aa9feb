"""Measures the speed of a lake's rewrites, on its last finished tasks and nothing else."""

from datetime import timedelta

from django.db.models import Max, QuerySet

from optimizer.core.domain.estimates import Speed
from optimizer.core.domain.tasks import REWRITES, TaskState
from optimizer.core.models import OptimizeTask

LAST = 50
_LATELY = timedelta(days=1)
_LEAST_SECONDS = 1.0
# What an application of the lake holds is not measured: its cost counts as that of one GB.
MEMORY_GB = 1.0


def speed_of(lake: str) -> Speed | None:
    """Return the measured speed of a lake; None before the first task has ended."""
    n_bytes = n_files = 0
    seconds = 0.0
    for task in measured(lake):
        seconds += task.seconds or 0.0
        for commit in task.commits:
            n_bytes += int(commit.get("bytes_removed", 0)) + int(commit.get("bytes_added", 0))
            n_files += int(commit.get("n_removed", 0))
    if seconds < _LEAST_SECONDS or not n_bytes:
        return None
    return Speed(n_bytes / seconds, 0.0, 0.0, MEMORY_GB)


def measured(lake: str) -> list[OptimizeTask]:
    """Return the last finished tasks of a lake, by which its speed is told; newest first."""
    done = OptimizeTask.objects.filter(
        table__lake=lake,
        kind__in=REWRITES,
        state__in=(TaskState.DONE, TaskState.PARTIAL),
        seconds__gt=0,
    ).order_by("-ended_at")
    return _last(done.only("commits", "seconds"))


def _last(done: QuerySet[OptimizeTask]) -> list[OptimizeTask]:
    """Return the last of them; where one day has enough, those before it are not put in order."""
    newest = OptimizeTask.objects.aggregate(at=Max("ended_at"))["at"]
    if newest is None:
        return []
    lately = list(done.filter(ended_at__gte=newest - _LATELY)[:LAST])
    return lately if len(lately) == LAST else list(done[:LAST])
