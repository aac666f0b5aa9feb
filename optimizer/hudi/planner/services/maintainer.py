"""Maintains Hudi tables: what is theirs at each step that all table formats share."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from optimizer.core.domain.tasks import TaskState
from optimizer.core.services.dispatcher import waiting
from optimizer.core.services.maintainers import Arranged, Result, TableMaintainer
from optimizer.core.services.task_lifecycle import is_cancelled
from optimizer.hudi.inspect.services.inspection import (
    hudi_inspections_due,
    hudi_inspections_ingest,
    hudi_inspections_request,
)
from optimizer.hudi.maintenance.domain.tasks import TASKS, Step
from optimizer.hudi.planner.services.orders import orders_of
from optimizer.hudi.planner.services.planner import hudi_decide
from optimizer.hudi.planner.services.removals import (
    list_of,
    propose_list,
    proposed_words,
    removed_by,
)
from optimizer.hudi.planner.services.scheduler import arrange, may_begin
from optimizer.hudi.tables.domain.events import EVENT_TYPES, hudi_event
from optimizer.hudi.tables.selectors.resident import watched_tables
from optimizer.hudi.tables.services.poll import hudi_compare, hudi_listed
from optimizer.hudi.tables.services.record_changes import hudi_note
from optimizer.models import HudiTable, OptimizeTask, RemovalPlan
from optimizer.policies.selectors.hudi_policies import hudi_policies_of
from optimizer.removals.services.removals import removal_ended, removal_lost
from portal.events.messages import LakeEvent
from portal.lake.counts import count_words
from portal.runs.models import Run

_LISTING = frozenset({TaskState.DONE, TaskState.NOTHING})


class HudiMaintainer(TableMaintainer):
    """Hudi: its commits leave no event, so looks say what is needed; lists have their own tasks."""

    table_format = HudiTable.table_format
    event_types = EVENT_TYPES

    def hear(self, lake: str, events: Sequence[LakeEvent], *, now: datetime) -> None:
        """Write what events mean; nothing is queued before a look."""
        meant = [
            hudi_event(one.type, (one.db, one.table), one.message, former=one.former)
            for one in events
        ]
        hudi_note(lake, [one for one in meant if one is not None], now=now)

    def poll(
        self, lake: str, results_uri: str, *, read_at: datetime, now: datetime
    ) -> tuple[int, int]:
        """Write what differs."""
        return hudi_compare(lake, hudi_listed(lake, results_uri), read_at=read_at, now=now)

    def inspections_due(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        """Return the tables whose look is due, and how closely each is looked at."""
        return hudi_inspections_due(lake, now=now)

    def inspections_request(self, run: Run, *, now: datetime) -> dict[str, Any]:
        """Return each table's name and place, and how closely it is looked at."""
        return hudi_inspections_request(run)

    def inspections_ingest(self, run: Run, manifest: Mapping[str, Any], *, now: datetime) -> None:
        """Show what was found, decide what follows, and tell of alarms."""
        hudi_inspections_ingest(run, manifest, now=now, decide=hudi_decide)

    def decide(self, lake: str, *, now: datetime) -> int:
        """Decide on the tables that were looked at, and on all others each hour."""
        return hudi_decide(lake, now=now)

    def candidates(self, lake: str, *, now: datetime) -> QuerySet[OptimizeTask]:
        """Return what waits of the tables that no service stays with."""
        return waiting(self, lake, now=now).exclude(hudi__in=watched_tables(lake))

    def watched(self, lake: str, *, now: datetime) -> QuerySet[OptimizeTask]:
        """Return what waits of the tables that a service stays with."""
        return waiting(self, lake, now=now).filter(hudi__in=watched_tables(lake))

    def may_begin(self, rows: QuerySet[OptimizeTask]) -> QuerySet[OptimizeTask]:
        """Keep what takes nothing away that people have to approve first."""
        return may_begin(rows)

    def arrange(self, lake: str, tasks: Sequence[OptimizeTask], *, now: datetime) -> Arranged:
        """Arrange by the order of services, within budgets and outside of blackout windows."""
        return arrange(lake, tasks, now=now)

    def orders(self, run: Run, tasks: QuerySet[OptimizeTask]) -> list[dict[str, Any]]:
        """Return what the job must know of each task that its table's last look leaves to do."""
        return orders_of(tasks, hudi_policies_of(run.lake))

    def results(self, manifest: Mapping[str, Any]) -> list[Result]:
        """Return the results, as the job writes them."""
        return list(manifest.get("result", {}).get("tasks", []))

    def commits(self, result: Result) -> list[Any]:
        """Return the instants that a task completed."""
        return list(result.get("done", []))

    def commits_words(self, commits: list[Any]) -> str:
        """Say how many instants were completed, of how many files."""
        if not commits:
            return "There was nothing to do."
        n_files = sum(int(one.get("n_files", 0)) for one in commits)
        files = f", {count_words(n_files, 'file')}" if n_files else ""
        return f"{count_words(len(commits), 'instant')} of its timeline{files}."

    def show_list(self, task: OptimizeTask, result: Result, *, now: datetime) -> Result | None:
        """Show a list to people: a task of its own waits for them, this one is done."""
        _, step = TASKS[task.kind]
        is_listing = step is Step.SCHEDULE and result.get("outcome") in _LISTING
        if not is_listing or is_cancelled(task):
            return result
        listed = list_of(task, dict(result.get("found") or {}), now=now)
        if listed is None:
            return result
        plan = propose_list(task, listed, now=now)
        return {**result, "outcome": TaskState.DONE.value, "reason": proposed_words(listed, plan)}

    def ended(self, task: OptimizeTask, result: Result, *, now: datetime) -> None:
        """Write what came of its list."""
        removal_ended(task, {**result, "removed": removed_by(task.commits)}, now=now)

    def lost(self, task: OptimizeTask, *, reason: str, now: datetime) -> bool:
        """End its list; a task that acted on one cannot go again."""
        has_list = task.removals.exists()
        removal_lost(task, reason=reason, now=now)
        return has_list

    def inspect_again(self, task: OptimizeTask, *, now: datetime) -> None:
        """Let a look be due now: those of Hudi tables are due at some later time anyway."""
        rows = HudiTable.objects.filter(pk=task.subject.pk, is_deleted=False)
        rows.update(inspect_due_at=now)

    def allows_removal(self, lake: str) -> Callable[[RemovalPlan], bool]:
        """Return whether the policy of a list's table still has its service."""
        policies = hudi_policies_of(lake)

        def is_allowed(plan: RemovalPlan) -> bool:
            policy = policies.of(plan.subject.db, plan.subject.table).policy
            return policy.is_on and TASKS[plan.kind][0] in policy.kinds

        return is_allowed


HUDI = HudiMaintainer()
