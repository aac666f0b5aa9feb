"""Kinds of work on a table, and the states of a task."""

from enum import StrEnum


class TaskKind(StrEnum):
    """What is done to a table, from the cheapest rewrite to the upkeep of its metadata."""

    MINOR = "MINOR"  # many small files into few
    MAJOR = "MAJOR"  # files below the target and files with many deleted rows
    FULL = "FULL"  # every file of a partition
    CLUSTER = "CLUSTER"  # the files that do not lie in the order asked for
    DELETES = "DELETES"  # delete files merged into fewer, or into the data
    MANIFESTS = "MANIFESTS"
    EXPIRE = "EXPIRE"
    ORPHANS = "ORPHANS"
    STATISTICS = "STATISTICS"
    INDEX = "INDEX"  # file indexes of what has none, beside the data
    CUBE = "CUBE"  # cubes brought up to the newest snapshot


class TaskState(StrEnum):
    """Where a task stands."""

    WAITING = "WAITING"
    HELD = "HELD"  # for a person, for blackout windows or for budget; the reason is stored
    TO_APPROVE = "TO_APPROVE"  # a list of what would be removed waits for people
    SENT = "SENT"  # in a run
    DONE = "DONE"
    PARTIAL = "PARTIAL"
    NOTHING = "NOTHING"
    FAILED = "FAILED"
    ABANDONED = "ABANDONED"  # lost to other writers, or the table is gone
    CANCELLED = "CANCELLED"


FINAL = frozenset(
    {
        TaskState.DONE,
        TaskState.PARTIAL,
        TaskState.NOTHING,
        TaskState.FAILED,
        TaskState.ABANDONED,
        TaskState.CANCELLED,
    }
)
OUTCOMES = FINAL - {TaskState.CANCELLED}
"""What the job may say of a task; only the portal cancels one."""

STOPPED = "task.cancelled"
"""Why a task ended, or shall end: a person said so. The job and the portal call it alike."""

LEAVE_OUT = "leave_out"
"""Under this name a run's control file lists the tasks that shall stop, or not be begun."""

REWRITES = frozenset(
    {TaskKind.MINOR, TaskKind.MAJOR, TaskKind.FULL, TaskKind.CLUSTER, TaskKind.DELETES}
)
"""Kinds that replace data or delete files, and so can conflict with writers."""

DESTRUCTIVE = frozenset({TaskKind.EXPIRE, TaskKind.ORPHANS})
"""Kinds that take away what cannot be brought back: they wait for people's approval."""
