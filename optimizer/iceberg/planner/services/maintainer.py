"""Maintains Iceberg tables: what is theirs at each step that all table formats share."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Coalesce

from optimizer.core.services.dispatcher import waiting
from optimizer.core.services.maintainers import Arranged, Result, TableMaintainer
from optimizer.core.services.task_lifecycle import is_cancelled
from optimizer.iceberg.inspect.services.inspection import looks_due, looks_ingest, looks_request
from optimizer.iceberg.planner.services.orders import orders_of
from optimizer.iceberg.planner.services.planner import decide_due, queue_heard
from optimizer.iceberg.planner.services.scheduler import arrange
from optimizer.iceberg.tables.domain.events import EVENT_TYPES, heard
from optimizer.iceberg.tables.services.poll import poll
from optimizer.iceberg.tables.services.record_changes import note
from optimizer.models import IcebergTable, LayoutWrite, OptimizeTask, RemovalPlan
from optimizer.policies.selectors.policies import policies_of
from optimizer.removals.services.removals import removal_ended, removal_lost, removal_propose
from portal.events.messages import LakeEvent
from portal.runs.models import Run


class IcebergMaintainer(TableMaintainer):
    """Iceberg: a commit says by itself whether files shall be merged; one job does every kind."""

    table_format = IcebergTable.table_format
    event_types = EVENT_TYPES

    def hear(self, lake: str, events: Sequence[LakeEvent], *, now: datetime) -> None:
        """Write tables and commits; those of our own make a look due, and no task by themselves."""
        meant = [
            heard(one.type, (one.db, one.table), one.message, former=one.former) for one in events
        ]
        said = [one for one in meant if one is not None]
        if said:
            queue_heard(note(lake, said, now=now).committed, now=now)

    def poll(
        self, lake: str, results_uri: str, *, read_at: datetime, now: datetime
    ) -> tuple[int, int]:
        """Write what differs, and forget old commits."""
        return poll(lake, results_uri, read_at=read_at, now=now)

    def looks_due(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        """Return the tables of which something new was heard."""
        keys = looks_due(lake, now=now)
        return {"tables": keys} if keys else None

    def looks_request(self, run: Run, *, now: datetime) -> dict[str, Any]:
        """Return each table's name, identity, and what it is held to."""
        return {"tables": looks_request(run.lake, run.params["tables"], now=now)}

    def looks_ingest(self, run: Run, manifest: Mapping[str, Any], *, now: datetime) -> None:
        """Show what was found, and decide what follows."""
        looks_ingest(run, manifest, now=now, decide=decide_due)

    def decide(self, lake: str, *, now: datetime) -> int:
        """Decide on the tables that were looked at, or that waited for other writers until now."""
        return decide_due(lake, now=now)

    def candidates(self, lake: str, *, now: datetime) -> QuerySet[OptimizeTask]:
        """Return all that wait."""
        return waiting(self, lake, now=now)

    def may_begin(self, rows: QuerySet[OptimizeTask]) -> QuerySet[OptimizeTask]:
        """Keep all: without a list the tasks that remove something draw one up."""
        return rows

    def arrange(self, lake: str, tasks: Sequence[OptimizeTask], *, now: datetime) -> Arranged:
        """Arrange by gain over cost, within budgets and outside of blackout windows."""
        return arrange(lake, tasks, now=now)

    def orders(self, run: Run, tasks: QuerySet[OptimizeTask]) -> list[dict[str, Any]]:
        """Return what the job must know of each task."""
        return orders_of(run.lake, tasks)

    def results(self, manifest: Mapping[str, Any]) -> list[Result]:
        """Return the results, as the job writes them."""
        return list(manifest.get("result", {}).get("results", []))

    def commits(self, result: Result) -> list[Any]:
        """Return the snapshots that a task committed."""
        return list(result.get("commits", []))

    def commits_words(self, commits: list[Any]) -> str:
        """Say how many files became how many."""
        if not commits:
            return "There was nothing to do."
        n_removed = sum(int(one.get("n_removed", 0)) for one in commits)
        n_added = sum(int(one.get("n_added", 0)) for one in commits)
        in_all = "1 commit" if len(commits) == 1 else f"{len(commits)} commits"
        return f"{n_removed:,} files became {n_added:,}, in {in_all}."

    def show_list(self, task: OptimizeTask, result: Result, *, now: datetime) -> Result | None:
        """Show a list to people: the task that drew it up is the one that acts on it."""
        proposal = result.get("proposal")
        if not proposal or is_cancelled(task):
            return result
        removal_propose(task, proposal, now=now)
        return None

    def ended(self, task: OptimizeTask, result: Result, *, now: datetime) -> None:
        """Write what came of its list, and how the files lie that it wrote."""
        removal_ended(task, result, now=now)
        writes = [
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
        ]
        LayoutWrite.objects.bulk_create(writes, ignore_conflicts=True)

    def lost(self, task: OptimizeTask, *, why: str, now: datetime) -> bool:
        """End its list; the task creates a new one when it goes again."""
        removal_lost(task, why=why, now=now)
        return False

    def look_again(self, task: OptimizeTask, *, now: datetime) -> None:
        """Let a look be due, unless one is already."""
        rows = IcebergTable.objects.filter(pk=task.iceberg.pk, is_deleted=False)
        rows.update(inspect_due_at=Coalesce("inspect_due_at", now))

    def allows_removal(self, lake: str) -> Callable[[RemovalPlan], bool]:
        """Return whether the policy of a list's table still has its kind."""
        policies = policies_of(lake)

        def is_allowed(plan: RemovalPlan) -> bool:
            policy = policies.of(plan.subject.db, plan.subject.table).policy
            return policy.is_on and plan.kind in policy.kinds

        return is_allowed


ICEBERG = IcebergMaintainer()
