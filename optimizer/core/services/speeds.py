"""Measures the speed of a lake's rewrites, on its last finished tasks and nothing else.

The services of Hudi tables are measured by kind: of a compaction and of a clustering it is known
beforehand what they read.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import timedelta

from django.db.models import Max, QuerySet

from optimizer.core.domain.estimates import Estimate, Speed
from optimizer.core.domain.tasks import REWRITES, TaskState
from optimizer.hudi.inspect.domain.facts import HudiLook
from optimizer.hudi.maintenance.domain.tasks import TASKS
from optimizer.hudi.planner.domain.estimates import (
    TIMED,
    DoneTask,
    estimate_read,
    measured_speed,
    plans_read,
)
from optimizer.models import OptimizeTask

_LAST = 50
_LATELY = timedelta(days=1)
_LEAST_SECONDS = 1.0
# What an application of the lake holds is not measured: its cost counts as that of one GB.
_MEMORY_GB = 1.0


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
    return Speed(n_bytes / seconds, 0.0, 0.0, _MEMORY_GB)


def measured(lake: str) -> list[OptimizeTask]:
    """Return the last finished tasks of a lake, by which its speed is told; newest first."""
    done = OptimizeTask.objects.filter(
        table__lake=lake,
        kind__in=REWRITES,
        state__in=(TaskState.DONE, TaskState.PARTIAL),
        seconds__gt=0,
    ).order_by("-ended_at")
    return _last(done.only("commits", "seconds"))


@dataclass
class HudiSpeeds:
    """The measured speeds of a lake's Hudi services; each kind is read once, when it is needed."""

    lake: str
    _known: dict[str, float | None] = field(default_factory=dict)

    def of(self, kind: str) -> float | None:
        """Return the bytes that tasks of a kind read in a second; None where none is measured."""
        if kind not in self._known:
            self._known[kind] = measured_speed(map(_done, _hudi_measured(self.lake, kind)))
        return self._known[kind]

    def estimate(self, kind: str, n_bytes: int | None) -> dict[str, int | float]:
        """Return the estimate of a task that reads so much; empty where nothing is known."""
        if kind not in TIMED:
            return {}
        found = estimate_read(n_bytes, speed=self.of(kind), memory_gb=_MEMORY_GB)
        return found.as_dict() if found else {}

    def estimate_plans(
        self, look: HudiLook, kind: str, instants: Collection[str]
    ) -> dict[str, int | float]:
        """Return the estimate of a task that executes some pending plans, none named: all."""
        return self.estimate(kind, plans_read(look, TASKS[kind][0], instants))


def _hudi_measured(lake: str, kind: str) -> list[OptimizeTask]:
    done = OptimizeTask.objects.filter(
        hudi__lake=lake, kind=kind, state=TaskState.DONE, seconds__gt=0
    ).order_by("-ended_at")
    return list(done.only("instants", "commits", "estimate")[:_LAST])


def _done(task: OptimizeTask) -> DoneTask:
    return DoneTask(
        frozenset(map(str, task.instants or ())),
        frozenset(str(one.get("instant")) for one in task.commits),
        Estimate.from_dict(task.estimate).bytes_read,
        sum(float(one.get("seconds", 0.0)) for one in task.commits),
    )


def _last(done: QuerySet[OptimizeTask]) -> list[OptimizeTask]:
    """Return the last of them; where one day has enough, those before it are not put in order."""
    newest = OptimizeTask.objects.aggregate(at=Max("ended_at"))["at"]
    if newest is None:
        return []
    lately = list(done.filter(ended_at__gte=newest - _LATELY)[:_LAST])
    return lately if len(lately) == _LAST else list(done[:_LAST])
