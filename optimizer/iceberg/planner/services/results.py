"""Follows tasks of Iceberg tables that ended: the layout of what was written, and lists."""

from datetime import datetime
from typing import Any

from optimizer.core.services.maintainers import Result
from optimizer.core.services.task_lifecycle import is_cancelled
from optimizer.models import LayoutWrite, OptimizeTask
from optimizer.removals.services.removals import removal_ended, removal_propose


def show_list(task: OptimizeTask, result: Result, *, now: datetime) -> Result | None:
    """Show a list that a task drew up to people; the task itself waits for them then."""
    proposal = result.get("proposal")
    if not proposal or is_cancelled(task):
        return result
    removal_propose(task, proposal, now=now)
    return None


def ended(task: OptimizeTask, result: Result, *, now: datetime) -> None:
    """Write what came of its list, and how the files lie that it wrote."""
    removal_ended(task, result, now=now)
    LayoutWrite.objects.bulk_create(
        [
            LayoutWrite(
                table=task.iceberg,
                write_id=write_id,
                layout=task.layout,
                boundaries=result.get("boundaries"),
                partition=str(commit.get("partition", "")),
                snapshot_id=int(commit["snapshot_id"]),
                at=now,
            )
            for commit in task.commits
            for write_id in commit.get("write_ids", [])
        ],
        ignore_conflicts=True,
    )


def commits_words(commits: list[Any]) -> str:
    """Say what was committed."""
    if not commits:
        return "There was nothing to do."
    n_removed = sum(int(one.get("n_removed", 0)) for one in commits)
    n_added = sum(int(one.get("n_added", 0)) for one in commits)
    in_all = "1 commit" if len(commits) == 1 else f"{len(commits)} commits"
    return f"{n_removed:,} files became {n_added:,}, in {in_all}."
