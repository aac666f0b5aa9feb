"""Estimates what a task of a Hudi table reads, and how long it will take.

Only plans of compaction and clustering say what they read. Seconds come from tasks of the same
kind that are done; without one, or for anything else, nothing is estimated.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from optimizer.core.domain.estimates import Estimate
from optimizer.hudi.inspect.domain.facts import HudiInspection, PendingPlan
from optimizer.hudi.inspect.domain.timeline import PLANNED, pending
from optimizer.hudi.maintenance.domain.tasks import ACTIONS, Service, Step, task_name

TIMED = tuple(
    sorted(
        task_name(service, Step.EXECUTE)
        for service, actions in ACTIONS.items()
        if actions <= PLANNED
    )
)
"""Tasks whose plans say what they read."""

_LEAST_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class DoneTask:
    """A finished task: the plans it was to execute, those it did, and what they were to read."""

    planned: frozenset[str]
    done: frozenset[str]
    bytes_read: int
    seconds: float

    @property
    def is_measured(self) -> bool:
        """Whether its seconds are those of exactly the bytes that it was to read."""
        return bool(self.planned) and self.planned == self.done and self.bytes_read > 0


def measured_speed(tasks: Iterable[DoneTask]) -> float | None:
    """Return the bytes a second of finished tasks of one kind; None where too little is known."""
    found = [one for one in tasks if one.is_measured]
    seconds = sum(one.seconds for one in found)
    return sum(one.bytes_read for one in found) / seconds if seconds >= _LEAST_SECONDS else None


def plans_read(look: HudiInspection, service: Service, instants: Collection[str]) -> int | None:
    """Return the bytes that some pending plans read (none named: all); None if one says nothing."""
    named = instants or [one.instant for one in pending(look, ACTIONS.get(service, ()))]
    known = {one.instant: plan_read(one) for one in look.plans}
    sizes = [known.get(one, 0) for one in named]
    return sum(sizes) if sizes and all(sizes) else None


def plan_read(plan: PendingPlan) -> int:
    """Return the bytes of the files that a plan reads; 0 where they are not known."""
    return plan.base_bytes + plan.log_bytes


def estimate_read(n_bytes: int | None, *, speed: float | None, memory_gb: float) -> Estimate | None:
    """Return what a task costs that reads so much; without a measured speed no seconds are told."""
    if not n_bytes:
        return None
    seconds = n_bytes / speed if speed else 0.0
    return Estimate(bytes_read=n_bytes, seconds=seconds, gb_hours=seconds * memory_gb / 3600)
