"""Decides whether a statement may follow one that may still be running.

A front end goes on after its client gave up, or died. Refreshes of one kind wait for each other
there, so the later one reads later. Of two kinds the older may write what it had read into the
cache after the newer one: then the cache is older than the proof. Before catalogs one lock covers
all.
"""

from dataclasses import dataclass
from datetime import datetime

from refresh.core.domain.versions import Dialect
from refresh.worker.domain.steps import TABLE, Step, StepKind


@dataclass(frozen=True, slots=True)
class Unsure:
    """The kind of a statement that may still run, and when it must have ended."""

    kind: StepKind
    until: datetime


def follow(
    steps: tuple[Step, ...], unsure: Unsure | None, *, dialect: Dialect, now: datetime
) -> tuple[tuple[Step, ...], datetime | None]:
    """Return the steps that may follow, and from when on (None: now).

    A table refresh renews all that partition refreshes would, so it takes their place at once; a
    table refresh after partition refreshes must wait.
    """
    if unsure is None or unsure.until <= now or dialect is Dialect.RESOURCES or not steps:
        return steps, None
    if unsure.kind is StepKind.PARTITIONS:
        is_same = all(step.kind is StepKind.PARTITIONS for step in steps)
        return steps, None if is_same else unsure.until
    return tuple(dict.fromkeys(_as_table(step) for step in steps)), None


def _as_table(step: Step) -> Step:
    return step if step.kind is StepKind.TABLE else TABLE
