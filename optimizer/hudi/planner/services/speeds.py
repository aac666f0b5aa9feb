"""Measures how fast services of a lake's Hudi tables read, by kind, on their last finished tasks.

Of a compaction and of a clustering it is known beforehand what they read.
"""

from collections.abc import Collection
from dataclasses import dataclass, field

from optimizer.core.domain.estimates import Estimate
from optimizer.core.domain.tasks import TaskState
from optimizer.core.services.speeds import LAST, MEMORY_GB
from optimizer.hudi.inspect.domain.facts import HudiInspection
from optimizer.hudi.maintenance.domain.tasks import TASKS
from optimizer.hudi.planner.domain.estimates import (
    TIMED,
    DoneTask,
    estimate_read,
    measured_speed,
    plans_read,
)
from optimizer.models import OptimizeTask


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
        found = estimate_read(n_bytes, speed=self.of(kind), memory_gb=MEMORY_GB)
        return found.as_dict() if found else {}

    def estimate_plans(
        self, look: HudiInspection, kind: str, instants: Collection[str]
    ) -> dict[str, int | float]:
        """Return the estimate of a task that executes some pending plans, none named: all."""
        return self.estimate(kind, plans_read(look, TASKS[kind][0], instants))


def _hudi_measured(lake: str, kind: str) -> list[OptimizeTask]:
    done = OptimizeTask.objects.filter(
        hudi__lake=lake, kind=kind, state=TaskState.DONE, seconds__gt=0
    ).order_by("-ended_at")
    return list(done.only("instants", "commits", "estimate")[:LAST])


def _done(task: OptimizeTask) -> DoneTask:
    return DoneTask(
        frozenset(map(str, task.instants or ())),
        frozenset(str(one.get("instant")) for one in task.commits),
        Estimate.from_dict(task.estimate).bytes_read,
        sum(float(one.get("seconds", 0.0)) for one in task.commits),
    )
