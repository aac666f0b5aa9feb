"""Plans which statements, in which order, make a table's front ends equal to the metastore.

Only names that the metastore has are ever sent, because one that it has not fails a statement
whole. A table goes before its partitions, so that new ones are known when they are loaded.

A front end goes on after its client gave up, or died, so a statement may follow one that still
runs. Refreshes of one kind wait for each other there, and the later one reads later. Of two kinds
the older may write what it had read into the cache after the newer one: then the cache is older
than the proof. Before catalogs one lock covers all.
"""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from refresh.changes.domain.changes import Pending
from refresh.core.domain.versions import Dialect


class StepKind(StrEnum):
    """The two forms of the statement."""

    TABLE = "TABLE"
    PARTITIONS = "PARTITIONS"


@dataclass(frozen=True, slots=True)
class Step:
    """One statement; `everywhere` means sent to every front end itself, because none passes it on.

    A refresh of a table that is gone fails where it is sent, clears the caches there, and ends.
    """

    kind: StepKind
    partitions: tuple[str, ...] = ()
    everywhere: bool = False


@dataclass(frozen=True, slots=True)
class InMetastore:
    """What the metastore has of a table, and of those of its partitions that wait."""

    exists: bool
    is_partitioned: bool
    partitions: AbstractSet[str] = frozenset()


@dataclass(frozen=True, slots=True)
class StepLimits:
    """The most partitions refreshed by name at all, and the most in one statement."""

    most_by_name: int = 1_000
    per_statement: int = 200


TABLE = Step(StepKind.TABLE)


def steps_for(
    pending: Pending, *, found: InMetastore, dialect: Dialect, limits: StepLimits
) -> tuple[Step, ...]:
    """Plan the statements of one table, in order; nothing waiting gives none."""
    if not found.exists:
        return (Step(StepKind.TABLE, everywhere=True),)
    if not found.is_partitioned:
        return (TABLE,) if pending.whole or pending.partitions else ()
    named = sorted(pending.partitions.keys() & found.partitions)
    has_dropped = len(named) < len(pending.partitions)
    is_whole = pending.whole or has_dropped or len(named) > limits.most_by_name
    if dialect is Dialect.CATALOGS:
        return (TABLE,) if is_whole else _batches(named, limits.per_statement)
    # Before catalogs a table refresh renews the list of partitions only: whatever is cached of an
    # updated one stays, so each of them is named, however many there are.
    return (TABLE, *_batches(named, limits.per_statement)) if is_whole or named else ()


def _batches(names: list[str], size: int) -> tuple[Step, ...]:
    return tuple(
        Step(StepKind.PARTITIONS, tuple(names[start : start + size]))
        for start in range(0, len(names), size)
    )


@dataclass(frozen=True, slots=True)
class OutcomeUnknown:
    """The kind of a statement that may still run, and when it must have ended."""

    kind: StepKind
    until: datetime


def follow(
    steps: tuple[Step, ...], unsure: OutcomeUnknown | None, *, dialect: Dialect, now: datetime
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
