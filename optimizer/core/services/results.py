"""Takes in what runs say of their tasks. Each gets its outcome; one without any waits again.

What a run listed is shown to people, and a list whose run was lost is used up: both are the
format's part, as is what else follows a task's end.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from optimizer.core.domain.tasks import OUTCOMES, STOPPED, TaskState
from optimizer.core.models import TABLE_FIELDS, OptimizeTask
from optimizer.core.services.maintainers import Result, TableMaintainer
from optimizer.core.services.task_lifecycle import MOST_TRIES, is_stopped, lock_table
from portal.runs.models import Run


def results_ingest(
    maintainer: TableMaintainer, run: Run, manifest: Mapping[str, Any], *, now: datetime
) -> None:
    """Write the outcomes of a run's tasks; said again it changes nothing."""
    found = {int(one["task"]): one for one in maintainer.results(manifest)}
    by_will = is_stopped(run, manifest)
    for task in sent_of(maintainer, run).order_by("pk"):
        result_take(maintainer, task, found.get(task.pk), manifest, by_will=by_will, now=now)


@transaction.atomic
def result_take(
    maintainer: TableMaintainer,
    task: OptimizeTask,
    result: Result | None,
    manifest: Mapping[str, Any],
    *,
    by_will: bool,
    now: datetime,
) -> None:
    """Write the outcome of one task that was sent; without one it waits again.

    `by_will` says that it is not the task's fault. Of two at once the second changes nothing.
    """
    lock_table(task)
    mine = OptimizeTask.objects.select_for_update().filter(pk=task.pk, run=task.run)
    if not mine.filter(state=TaskState.SENT).exists():
        return
    if result is not None:
        result = maintainer.show_list(task, result, now=now)
        if result is None:
            return
    if result is not None and result.get("outcome") in OUTCOMES:
        _end(maintainer, task, result, now=now)
    else:
        _give_back(maintainer, task, manifest, by_will=by_will, now=now)
    # It may have committed before it died.
    maintainer.inspect_again(task, now=now)


def reclaim(maintainer: TableMaintainer, lake: str, *, now: datetime) -> int:
    """Take tasks back from runs that ended without a word of them; returns how many."""
    field = TABLE_FIELDS[maintainer.table_format]
    sent = OptimizeTask.objects.filter(**{f"{field}__lake": lake}, state=TaskState.SENT)
    runs = {run for run in sent.values_list("run", flat=True) if run is not None}
    if not runs:
        return 0
    alive = set(Run.objects.filter(pk__in=runs, finished_at=None).values_list("pk", flat=True))
    lost = list(sent.filter(run__in=runs - alive).select_related(field))
    for task in lost:
        result_take(maintainer, task, None, {}, by_will=False, now=now)
    return len(lost)


def sent_of(maintainer: TableMaintainer, run: Run) -> QuerySet[OptimizeTask]:
    """Return the tasks that a run has, with their tables, unordered."""
    field = TABLE_FIELDS[maintainer.table_format]
    sent = OptimizeTask.objects.filter(
        **{f"{field}__isnull": False}, run=run.pk, state=TaskState.SENT
    )
    return sent.select_related(field)


def _end(maintainer: TableMaintainer, task: OptimizeTask, result: Result, *, now: datetime) -> None:
    commits = maintainer.commits(result)
    task.state, task.is_open, task.ended_at = TaskState(result["outcome"]), None, now
    task.outcome_code = str(result.get("code", ""))[:64]
    task.outcome = str(result.get("reason", "")) or maintainer.commits_words(commits)
    task.before, task.after = dict(result.get("before", {})), dict(result.get("after", {}))
    task.commits = commits
    task.n_conflicts += int(result.get("conflicts", 0))
    task.seconds = float(result.get("seconds", 0.0))
    task.n_tries += 1
    task.save()
    maintainer.ended(task, result, now=now)


def _give_back(
    maintainer: TableMaintainer,
    task: OptimizeTask,
    manifest: Mapping[str, Any],
    *,
    by_will: bool,
    now: datetime,
) -> None:
    error = manifest.get("error") or {}
    reason = str(error.get("message") or "The run ended without a word of this task.")
    is_used_up = maintainer.lost(task, reason=reason, now=now)
    # A person may have cancelled it since it was read; those words are its outcome then.
    rows = OptimizeTask.objects.select_for_update()
    task.refresh_from_db(fields=["outcome_code", "outcome"], from_queryset=rows)
    if task.outcome_code == STOPPED:
        task.state, task.is_open, task.ended_at = TaskState.CANCELLED, None, now
        task.save()
        return
    task.n_tries += not by_will
    if is_used_up or task.n_tries >= MOST_TRIES:
        task.state, task.is_open, task.ended_at = TaskState.FAILED, None, now
        task.outcome_code = str(error.get("code") or "run.lost")[:64]
        task.outcome = (
            f"{reason} What is left needs a new list."
            if is_used_up
            else f"Given up after {task.n_tries} runs. The last one: {reason}"
        )
    else:
        task.run, task.started_at = None, None
        task.state, task.waits_for = TaskState.WAITING, reason
    task.save()
