"""Finds the instants of a Hudi table that a rollback or a restore undid on purpose.

Both timelines are read, because Hudi archives rollbacks like all other actions. What cannot be read
leaves the question open, and then nothing may be brought back.
"""

from typing import Any

from optimizer.hudi.inspect.domain.facts import Action
from optimizer.hudi.tables.jobs.errors import error_text
from optimizer.hudi.tables.jobs.table import OpenedTable
from portal.lake.errors import RuleViolation
from portal.spark.java_errors import JAVA_ERRORS

_UNDOING = frozenset({Action.ROLLBACK.value, Action.RESTORE.value})


def undone_instants(table: OpenedTable) -> frozenset[str]:
    """Return every instant that a rollback or restore undid, or is about to undo.

    Raises:
        RuleViolation: `hudi.undone_unknown`, a rollback or restore cannot be read.
    """
    found: set[str] = set()
    try:
        active = table.java.getActiveTimeline()
        archived = table.java.getArchivedTimeline()
        archived.loadCompletedInstantDetailsInMemory()
        for timeline in (active, archived):
            for instant in timeline.getInstants():
                if str(instant.getAction()) in _UNDOING:
                    found |= _undone_by(table, timeline, instant)
    except JAVA_ERRORS as error:
        raise RuleViolation(
            "hudi.undone_unknown",
            f"{table.name}: a rollback or restore in its timelines cannot be read "
            f"({error_text(error)}), so rows that were undone on purpose cannot be told from lost "
            "ones.",
        ) from error
    return frozenset(found)


def _undone_by(table: OpenedTable, timeline: Any, instant: Any) -> set[str]:
    is_rollback = str(instant.getAction()) == Action.ROLLBACK.value
    if not instant.isCompleted():
        if not is_rollback:
            plan = timeline.readRestorePlan(
                table.java.getInstantGenerator().getRestoreRequestedInstant(instant)
            )
            return {str(one.getCommitTime()) for one in plan.getInstantsToRollback()}
        plans = table.hudi.table.action.rollback.RollbackUtils
        return {
            str(plans.getRollbackPlan(table.java, instant).getInstantToRollback().getCommitTime())
        }
    if is_rollback:
        return set(map(str, timeline.readRollbackMetadata(instant).getCommitsRollback()))
    return set(map(str, timeline.readRestoreMetadata(instant).getInstantsToRollback()))
