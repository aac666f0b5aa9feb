"""Takes in task results of a run over Hudi tables. A task without a result waits again.

Every table of the run is looked at anew, whatever was said of it: a plan may have been executed
before the run died. What a run listed is shown to people; a list whose run was lost is used up.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from optimizer.core.domain.tasks import OUTCOMES, STOPPED, TaskState
from optimizer.core.services.task_lifecycle import MOST_TRIES, is_cancelled, is_stopped
from optimizer.hudi.inspect.domain.findings import count_words
from optimizer.hudi.maintenance.domain.tasks import TASKS, Step
from optimizer.hudi.planner.services.removals import list_of, propose_list, proposed_words
from optimizer.models import HudiTable, OptimizeTask
from optimizer.removals.services.removals import removal_ended, removal_lost
from portal.runs.models import Run

_LISTING = frozenset({TaskState.DONE, TaskState.NOTHING})


def hudi_results_ingest(run: Run, manifest: Mapping[str, Any], *, now: datetime) -> None:
    """Write the outcomes of a run's tasks; said again it changes nothing."""
    found = {int(one["task"]): one for one in manifest.get("result", {}).get("tasks", [])}
    sent = OptimizeTask.objects.filter(run=run.pk, state=TaskState.SENT, hudi__isnull=False)
    by_will = is_stopped(run, manifest)
    for task in sent.select_related("hudi").order_by("pk"):
        hudi_result_take(task, found.get(task.pk), manifest, by_will=by_will, now=now)


@transaction.atomic
def hudi_result_take(
    task: OptimizeTask,
    result: Mapping[str, Any] | None,
    manifest: Mapping[str, Any],
    *,
    by_will: bool,
    now: datetime,
) -> None:
    """Write the outcome of one task that was sent; without one it waits again.

    `by_will` says that it is not the task's fault. Of two at once the second changes nothing.
    """
    mine = OptimizeTask.objects.select_for_update().filter(pk=task.pk, run=task.run)
    if not mine.filter(state=TaskState.SENT).exists():
        return
    if result is not None and result.get("outcome") in OUTCOMES:
        _end(task, result, now=now)
    else:
        _give_back(task, manifest, by_will=by_will, now=now)
    _look(task, now=now)


def hudi_reclaim(lake: str, *, now: datetime) -> int:
    """Take tasks back from runs that ended without a word of them; returns how many."""
    sent = OptimizeTask.objects.filter(hudi__lake=lake, state=TaskState.SENT)
    runs = {run for run in sent.values_list("run", flat=True) if run is not None}
    if not runs:
        return 0
    alive = set(Run.objects.filter(pk__in=runs, finished_at=None).values_list("pk", flat=True))
    lost = list(sent.filter(run__in=runs - alive).select_related("hudi"))
    for task in lost:
        with transaction.atomic():
            _give_back(task, {}, by_will=False, now=now)
            _look(task, now=now)
    return len(lost)


def _end(task: OptimizeTask, result: Mapping[str, Any], *, now: datetime) -> None:
    done = list(result.get("done", []))
    task.state, task.is_open, task.ended_at = TaskState(result["outcome"]), None, now
    task.outcome_code = str(result.get("code", ""))[:64]
    task.outcome = str(result.get("reason", "")) or _words(done)
    task.before, task.after = dict(result.get("before", {})), dict(result.get("after", {}))
    task.commits = done
    task.seconds = float(result.get("seconds", 0.0))
    task.n_tries += 1
    _show_list(task, result, now=now)
    task.save()
    removal_ended(task, {**result, "removed": _removed(done)}, now=now)


def _show_list(task: OptimizeTask, result: Mapping[str, Any], *, now: datetime) -> None:
    """Show what was listed to people, unless a person cancelled the task meanwhile."""
    _, step = TASKS[task.kind]
    if step is not Step.SCHEDULE or task.state not in _LISTING or is_cancelled(task):
        return
    listed = list_of(task, dict(result.get("found") or {}), now=now)
    if listed is None:
        return
    plan = propose_list(task, listed, now=now)
    task.state = TaskState.DONE
    task.outcome = proposed_words(listed, plan)


def _give_back(
    task: OptimizeTask, manifest: Mapping[str, Any], *, by_will: bool, now: datetime
) -> None:
    error = manifest.get("error") or {}
    why = str(error.get("message") or "The run ended without a word of this task.")
    has_list = task.removals.exists()
    removal_lost(task, why=why, now=now)
    rows = OptimizeTask.objects.select_for_update()
    task.refresh_from_db(fields=["outcome_code", "outcome"], from_queryset=rows)
    if task.outcome_code == STOPPED:
        task.state, task.is_open, task.ended_at = TaskState.CANCELLED, None, now
        task.save()
        return
    task.n_tries += not by_will
    if has_list or task.n_tries >= MOST_TRIES:
        task.state, task.is_open, task.ended_at = TaskState.FAILED, None, now
        task.outcome_code = str(error.get("code") or "run.lost")[:64]
        task.outcome = (
            f"{why} What is left needs a new list."
            if has_list
            else f"Given up after {task.n_tries} runs. The last one: {why}"
        )
    else:
        task.run, task.sent_at = None, None
        task.state, task.waits_for = TaskState.WAITING, why
    task.save()


def _look(task: OptimizeTask, *, now: datetime) -> None:
    HudiTable.objects.filter(pk=task.subject.pk, is_gone=False).update(look_due_at=now)


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


def _words(done: list[Any]) -> str:
    if not done:
        return "There was nothing to do."
    n_files = sum(int(one.get("n_files", 0)) for one in done)
    files = f", {count_words(n_files, 'file')}" if n_files else ""
    return f"{count_words(len(done), 'instant')} of its timeline{files}."
