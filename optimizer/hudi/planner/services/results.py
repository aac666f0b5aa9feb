"""Follows tasks of Hudi tables that ended: lists that were drawn up, acted on or lost."""

from datetime import datetime
from typing import Any

from optimizer.core.domain.tasks import TaskState
from optimizer.core.services.maintainers import Result
from optimizer.core.services.task_lifecycle import is_cancelled
from optimizer.hudi.inspect.domain.findings import count_words
from optimizer.hudi.maintenance.domain.tasks import TASKS, Step
from optimizer.hudi.planner.services.removals import list_of, propose_list, proposed_words
from optimizer.models import OptimizeTask
from optimizer.removals.services.removals import removal_ended, removal_lost

_LISTING = frozenset({TaskState.DONE, TaskState.NOTHING})


def show_list(task: OptimizeTask, result: Result, *, now: datetime) -> Result:
    """Show what was listed to people, unless a person cancelled the task meanwhile.

    A task of its own waits for them; this one is done.
    """
    _, step = TASKS[task.kind]
    if step is not Step.SCHEDULE or result.get("outcome") not in _LISTING or is_cancelled(task):
        return result
    listed = list_of(task, dict(result.get("found") or {}), now=now)
    if listed is None:
        return result
    plan = propose_list(task, listed, now=now)
    return {**result, "outcome": TaskState.DONE.value, "reason": proposed_words(listed, plan)}


def ended(task: OptimizeTask, result: Result, *, now: datetime) -> None:
    """Write what came of its list."""
    removal_ended(task, {**result, "removed": _removed(task.commits)}, now=now)


def lost(task: OptimizeTask, *, why: str, now: datetime) -> bool:
    """End the list of a task whose run was lost: what is left needs a new one, and a new task."""
    has_list = task.removals.exists()
    removal_lost(task, why=why, now=now)
    return has_list


def _removed(done: list[Any]) -> dict[str, int]:
    """Return what went, as the list's page tells it."""
    if not done:
        return {}
    return {
        "n_items": sum(
            int(one.get("n_items") or len(one.get("partitions", ())) or 1) for one in done
        ),
        "n_files": sum(int(one.get("n_files", 0)) for one in done),
        "n_bytes": sum(int(one.get("bytes", 0)) for one in done),
    }


def commits_words(done: list[Any]) -> str:
    """Say what was done."""
    if not done:
        return "There was nothing to do."
    n_files = sum(int(one.get("n_files", 0)) for one in done)
    files = f", {count_words(n_files, 'file')}" if n_files else ""
    return f"{count_words(len(done), 'instant')} of its timeline{files}."
