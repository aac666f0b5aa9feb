"""Services of Hudi tables, and the pending plans that each task takes.

Scheduling and executing are tasks of their own: a writer may schedule what we execute, and people
may approve between the two what would be taken away.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from optimizer.hudi.inspect.domain.facts import Action
from portal.lake.errors import RuleViolation, StaleState


class Service(StrEnum):
    """What is kept up for a table, apart from its writer."""

    COMPACTION = "COMPACTION"  # logs merged into base files, or into fewer logs
    CLUSTERING = "CLUSTERING"  # base files rewritten in another size or order
    CLEAN = "CLEAN"  # file versions that no reader needs any more
    ROLLBACK = "ROLLBACK"  # what began and never ended
    TTL = "TTL"  # whole partitions, by age
    RECOVERY = "RECOVERY"  # rows in logs that nobody reads


class Step(StrEnum):
    """Half of a service."""

    SCHEDULE = "SCHEDULE"  # a plan is written, or a list of what would go
    EXECUTE = "EXECUTE"


DESTRUCTIVE = frozenset({Service.CLEAN, Service.TTL})
"""Services that take away what cannot be brought back: people approve before they are executed."""

BY_APPROVAL = DESTRUCTIVE | {Service.RECOVERY}
"""Services that are executed by nothing but a list that people approved."""

ACTIONS = {
    Service.COMPACTION: frozenset({Action.COMPACTION, Action.LOG_COMPACTION}),
    Service.CLUSTERING: frozenset({Action.CLUSTERING}),
    Service.CLEAN: frozenset({Action.CLEAN}),
}
"""Whose pending instants a service executes; the others have no plans of their own."""


def service_of(action: Action) -> Service | None:
    """Return the service that executes a pending instant of an action, None if none does."""
    return next((service for service, actions in ACTIONS.items() if action in actions), None)


@dataclass(frozen=True, slots=True)
class HudiTask:
    """One task: a step of a service, on some instants (none: on what it finds), and why."""

    service: Service
    step: Step
    reason: str
    instants: tuple[str, ...] = ()
    needs_approval: bool = False

    @property
    def name(self) -> str:
        """How it is called among the tasks of all tables."""
        return task_name(self.service, self.step)

    @property
    def words(self) -> str:
        """What is done, for people."""
        what = "partition TTL" if self.service is Service.TTL else self.service.lower()
        return f"{self.step.capitalize()} {what}"


def task_name(service: Service, step: Step) -> str:
    """Return the name of a step of a service among the tasks of all tables."""
    return f"HUDI_{service}_{step}"


TASKS: Mapping[str, tuple[Service, Step]] = {
    task_name(service, step): (service, step) for service in Service for step in Step
}
"""By its name, which step of which service a task is."""

LISTED = tuple(
    task_name(service, Step.EXECUTE)
    for service in (Service.CLEAN, Service.TTL, Service.ROLLBACK, Service.RECOVERY)
)
"""What may act on a list that people approved; a rollback of what a service began needs none."""


def oldest_first(
    pending: Iterable[str],
    *,
    only: Collection[str] | None = None,
    failed: Collection[str] = (),
    most: int | None = None,
) -> tuple[str, ...]:
    """Choose which pending instants are executed: all of them or `only` some, oldest first.

    Those in `failed` come last, so that one that cannot be executed holds nobody up. The newest
    alone is never taken while older ones wait, for then those would wait for ever.

    Raises:
        StaleState: `hudi.not-pending`, one of `only` is pending no more.
        RuleViolation: `hudi.newest-alone`.
    """
    known = sorted(pending)
    gone = sorted(set(only or ()) - set(known))
    if gone:
        raise StaleState(
            "hudi.not-pending",
            f"{', '.join(gone)} is not pending any more: somebody executed it or rolled it back. "
            "Read the table's status again and choose among what is pending now.",
            instants=gone,
        )
    older = [one for one in known[:-1] if one not in failed]
    if only is not None and older and set(only) == {known[-1]}:
        raise RuleViolation(
            "hudi.newest-alone",
            f"{known[-1]} is the newest plan and {len(older)} older ones wait, the oldest "
            f"{older[0]}. Choose that one as well, or all: otherwise the older ones pile up.",
            instants=older,
        )
    chosen = known if only is None else [one for one in known if one in set(only)]
    ordered = sorted(chosen, key=lambda one: (one in failed, one))
    return tuple(ordered if most is None else ordered[:most])
