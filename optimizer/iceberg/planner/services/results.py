"""Takes in the results of a run's tasks. Each gets its outcome; one without any waits again."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models.functions import Coalesce

from optimizer.core.domain.tasks import OUTCOMES, STOPPED, TaskState
from optimizer.core.services.task_lifecycle import MOST_TRIES, is_cancelled, is_stopped
from optimizer.models import IcebergTable, LayoutWrite, OptimizeTask
from optimizer.removals.services.removals import removal_ended, removal_lost, removal_propose
from portal.runs.models import Run


def results_ingest(run: Run, manifest: Mapping[str, Any], *, now: datetime) -> None:
    """Write the outcomes of a run's tasks; said again it changes nothing."""
    found = {int(one["task"]): one for one in manifest.get("result", {}).get("results", [])}
    sent = OptimizeTask.objects.filter(run=run.pk, state=TaskState.SENT)
    for task in sent.select_related("table").order_by("pk"):
        with transaction.atomic():
            result = found.get(task.pk)
            proposal = result.get("proposal") if result is not None else None
            if proposal and not is_cancelled(task):
                removal_propose(task, proposal, now=now)
            elif result is not None and result.get("outcome") in OUTCOMES:
                _end(task, result, now=now)
            else:
                _give_back(task, manifest, is_stopped=is_stopped(run, manifest), now=now)


def reclaim(lake: str, *, now: datetime) -> int:
    """Take tasks back from runs that ended without a word of them; returns how many."""
    sent = OptimizeTask.objects.filter(table__lake=lake, state=TaskState.SENT)
    runs = {run for run in sent.values_list("run", flat=True) if run is not None}
    if not runs:
        return 0
    alive = set(Run.objects.filter(pk__in=runs, finished_at=None).values_list("pk", flat=True))
    lost = list(sent.filter(run__in=runs - alive).select_related("table"))
    for task in lost:
        with transaction.atomic():
            _give_back(task, {}, is_stopped=False, now=now)
    return len(lost)


def _end(task: OptimizeTask, result: Mapping[str, Any], *, now: datetime) -> None:
    commits = list(result.get("commits", []))
    task.state, task.is_open, task.ended_at = TaskState(result["outcome"]), None, now
    task.outcome_code = str(result.get("code", ""))[:64]
    task.outcome = str(result.get("reason", "")) or _words(commits)
    task.before, task.after = dict(result.get("before", {})), dict(result.get("after", {}))
    task.commits = commits
    task.n_conflicts += int(result.get("conflicts", 0))
    task.seconds = float(result.get("seconds", 0.0))
    task.n_tries += 1
    task.save()
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
            for commit in commits
            for write_id in commit.get("write_ids", [])
        ],
        ignore_conflicts=True,
    )
    _look(task, now=now)


def _give_back(
    task: OptimizeTask, manifest: Mapping[str, Any], *, is_stopped: bool, now: datetime
) -> None:
    error = manifest.get("error") or {}
    why = str(error.get("message") or "The run ended without a word of this task.")
    removal_lost(task, why=why, now=now)
    # A person may have cancelled it since it was read; those words are its outcome then.
    rows = OptimizeTask.objects.select_for_update()
    task.refresh_from_db(fields=["outcome_code", "outcome"], from_queryset=rows)
    if task.outcome_code == STOPPED:
        task.state, task.is_open, task.ended_at = TaskState.CANCELLED, None, now
        task.save()
        _look(task, now=now)
        return
    task.n_tries += not is_stopped
    task.run, task.sent_at = None, None
    if task.n_tries >= MOST_TRIES:
        task.state, task.is_open, task.ended_at = TaskState.FAILED, None, now
        task.outcome_code = str(error.get("code") or "run.lost")[:64]
        task.outcome = f"Given up after {task.n_tries} runs. The last one: {why}"
    else:
        task.state, task.waits_for = TaskState.WAITING, why
    task.save()
    # It may have committed before it died.
    _look(task, now=now)


def _look(task: OptimizeTask, *, now: datetime) -> None:
    IcebergTable.objects.filter(pk=task.iceberg.pk, is_gone=False).update(
        look_due_at=Coalesce("look_due_at", now)
    )


def _words(commits: list[Any]) -> str:
    if not commits:
        return "There was nothing to do."
    n_removed = sum(int(one.get("n_removed", 0)) for one in commits)
    n_added = sum(int(one.get("n_added", 0)) for one in commits)
    in_all = "1 commit" if len(commits) == 1 else f"{len(commits)} commits"
    return f"{n_removed:,} files became {n_added:,}, in {in_all}."
