"""Maintains Iceberg tables: what is theirs at each step that all table formats share.

Waiting tasks are put in order by gain over cost and within budgets. What begins then and in which
run is the dispatcher's part (`optimizer.core.services.dispatcher`).
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Coalesce

from optimizer.core.domain.estimates import UNMEASURED, Estimate, Speed
from optimizer.core.domain.scoring import Candidate, Chosen, choose, rank
from optimizer.core.domain.tasks import DESTRUCTIVE, TaskKind
from optimizer.core.services.dispatcher import waiting
from optimizer.core.services.maintainers import Arranged, Result, TableMaintainer
from optimizer.core.services.speeds import speed_of
from optimizer.core.services.task_lifecycle import is_cancelled
from optimizer.cubes.domain.definition import joins_written
from optimizer.iceberg.cubing.selectors import cube_definitions
from optimizer.iceberg.cubing.services.results import cubes_ingest, problem_ingest
from optimizer.iceberg.indexing.selectors import recorded_uses, wanted_of
from optimizer.iceberg.indexing.services.coverage import coverage_ingest
from optimizer.iceberg.inspect.services.inspection import (
    inspections_due,
    inspections_ingest,
    inspections_request,
)
from optimizer.iceberg.maintenance.selectors import may_borrow
from optimizer.iceberg.maintenance.services.quarantine_places import quarantine_directory
from optimizer.iceberg.planner.domain.deciding import hold_reason
from optimizer.iceberg.planner.domain.estimates import group_bytes
from optimizer.iceberg.planner.services.planner import decide_due, queue_events, queue_joined
from optimizer.iceberg.rewrite.domain.layouts import parse_layout
from optimizer.iceberg.tables.domain.events import EVENT_TYPES, heard
from optimizer.iceberg.tables.services.poll import poll
from optimizer.iceberg.tables.services.record_changes import note
from optimizer.models import IcebergTable, LayoutWrite, OptimizeTask, RemovalPlan
from optimizer.policies.selectors.joins import declared_joins_of
from optimizer.policies.selectors.policies import LakePolicies, TablePolicy, policies_of
from optimizer.policies.services.budgets import seconds_spent
from optimizer.removals.domain.states import RemovalState
from optimizer.removals.services.removals import removal_ended, removal_lost, removal_propose
from portal.access.lakes import get_lake
from portal.events.messages import LakeEvent
from portal.runs.models import Run

MAX_GROUP_BYTES = 10 * 1024**3
MAX_COMMITS = 10
MAX_SMALL_COMMITS = 200  # where other writers leave little time for each
MIN_FILES = 2


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
            found = note(lake, said, now=now)
            queue_events(found.committed, now=now)
            queue_joined(lake, found.changed, now=now)

    def poll(
        self, lake: str, results_uri: str, *, read_at: datetime, now: datetime
    ) -> tuple[int, int]:
        """Write what differs, and forget old commits."""

        def follow(changed: Sequence[IcebergTable]) -> None:
            queue_joined(lake, changed, now=now)

        return poll(lake, results_uri, read_at=read_at, now=now, changed=follow)

    def inspections_due(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        """Return the tables of which something new was heard."""
        keys = inspections_due(lake, now=now)
        return {"tables": keys} if keys else None

    def inspections_request(self, run: Run, *, now: datetime) -> dict[str, Any]:
        """Return each table's name, identity, and what it is held to."""
        return {"tables": inspections_request(run.lake, run.params["tables"], now=now)}

    def inspections_ingest(self, run: Run, manifest: Mapping[str, Any], *, now: datetime) -> None:
        """Show what was found, and decide what follows."""
        inspections_ingest(run, manifest, now=now, decide=decide_due)

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
        return orders_of(run.lake, tasks, now=run.queued_at)

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
        if result.get("has_coverage"):
            coverage_ingest(task, now=now)
        cubes_ingest(task, result.get("cubes") or (), now=now)
        problem_ingest(task, result.get("cube_problems") or {})

    def lost(self, task: OptimizeTask, *, reason: str, now: datetime) -> bool:
        """End its list; the task creates a new one when it goes again."""
        removal_lost(task, reason=reason, now=now)
        return False

    def inspect_again(self, task: OptimizeTask, *, now: datetime) -> None:
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


def arrange(lake: str, tasks: Sequence[OptimizeTask], *, now: datetime) -> Arranged:
    """Arrange tasks: what people asked for first, whatever hour and budget say."""
    policies, zone = policies_of(lake), get_lake(lake).zone
    rows = {str(task.pk): task for task in tasks}
    free: defaultdict[str, list[Candidate]] = defaultdict(list)
    found: dict[str, TablePolicy] = {}
    held: list[tuple[OptimizeTask, str]] = []
    for key, task in rows.items():
        found[key] = policies.of(task.iceberg.db, task.iceberg.table)
        reason = _held_by_hour(task, found[key], zone, now=now)
        if reason:
            held.append((task, reason))
        else:
            free[found[key].sources["budget_gb_hours"]].append(_candidate(task))
    chosen: list[OptimizeTask] = []
    for one in _within_budgets(lake, free, found, now=now):
        task = rows[one.candidate.key]
        if one.is_begun or task.requested_by:
            chosen.append(task)
        else:
            held.append((task, one.reason))
    first = {one.key: n for n, one in enumerate(rank(map(_candidate, chosen), speed=UNMEASURED))}
    return Arranged(
        sorted(chosen, key=lambda one: (not one.requested_by, first[str(one.pk)])), held
    )


def _held_by_hour(task: OptimizeTask, found: TablePolicy, zone: tzinfo, *, now: datetime) -> str:
    if task.requested_by:
        return ""
    if not found.policy.is_on:
        return "The optimizer is switched off for this table."
    held = hold_reason(found.policy, zone=zone, now=now)
    return held[0] if held else ""


def _candidate(task: OptimizeTask) -> Candidate:
    return Candidate(
        str(task.pk),
        Estimate.from_dict(task.estimate),
        task.created_at,
        is_cold=task.is_cold,
        risk=task.risk,
    )


def _within_budgets(
    lake: str,
    free: Mapping[str, Sequence[Candidate]],
    found: Mapping[str, TablePolicy],
    *,
    now: datetime,
) -> Iterator[Chosen]:
    """Let those begin that fit into what the scope that sets their budget has left today."""
    if not free:
        return
    speed = speed_of(lake) or UNMEASURED
    wholes = {scope: found[some[0].key].policy.budget_gb_hours for scope, some in free.items()}
    has_budget = any(whole is not None for whole in wholes.values())
    spent = seconds_spent(lake, now=now) if has_budget else {}
    for scope, candidates in free.items():
        whole = wholes[scope]
        left = None
        if whole is not None:
            left = whole - spent.get(scope, 0.0) * speed.memory_gb / 3600
        line = rank(candidates, speed=speed)
        yield from choose(line, budget=left, whole_budget=whole, speed=speed, now=now)


def orders_of(lake: str, tasks: QuerySet[OptimizeTask], *, now: datetime) -> list[dict[str, Any]]:
    """Return what a run does, the best first."""
    policies, speed = policies_of(lake), speed_of(lake)
    return [_order(task, policies, speed, now=now) for task in tasks.order_by("-score", "pk")]


def _order(
    task: OptimizeTask, policies: LakePolicies, speed: Speed | None, *, now: datetime
) -> dict[str, Any]:
    table = task.iceberg
    wanted = wanted_of(table, policies.of(table.db, table.table).policy)
    parsed = parse_layout(task.layout)
    layout = str(parsed)
    joins = declared_joins_of(table).of(parsed.columns) if layout else ()
    laid_out = LayoutWrite.objects.filter(table=table, layout=layout) if layout else None
    newest = laid_out.order_by("-at", "-pk").first() if laid_out is not None else None
    return {
        "task": task.pk,
        "db": table.db,
        "table": table.table,
        "uuid": table.uuid,
        "kind": task.kind,
        "partitions": task.partitions,
        "target_bytes": task.target_bytes,
        "layout": layout,
        "joins": joins_written(joins),
        # The boundaries of before keep later files comparable with those that are there.
        "boundaries": newest.boundaries if newest else None,
        "write_ids": [] if laid_out is None else list(laid_out.values_list("write_id", flat=True)),
        "max_group_bytes": group_bytes(
            task.group_seconds, kind=TaskKind(task.kind), speed=speed, at_most=MAX_GROUP_BYTES
        ),
        "max_commits": MAX_COMMITS if task.group_seconds is None else MAX_SMALL_COMMITS,
        "min_files": MIN_FILES,
        "index_columns": list(map(str, wanted)),
        "index_uses": recorded_uses(table, wanted, now=now),
        "cubes": cube_definitions(table),
        "removal": _removal(task, policies) if task.kind in DESTRUCTIVE else None,
    }


def _removal(task: OptimizeTask, policies: LakePolicies) -> dict[str, Any]:
    """Return what the policy lets go as it stands now, and the list that this run may act on."""
    policy = policies.of(task.iceberg.db, task.iceberg.table).policy
    plan = task.removals.filter(state=RemovalState.RUNNING, run=task.run).first()
    return {
        "expire_days": policy.expire_days,
        "keep_snapshots": policy.keep_snapshots,
        "orphan_days": policy.orphan_days,
        "quarantine_days": policy.quarantine_days,
        "borrowers": list(may_borrow(task.iceberg)),
        "quarantine": "" if plan is None else quarantine_directory(plan),
        "approved": None
        if plan is None
        else {"plan": str(plan.pk), "uri": plan.items_uri, "digest": plan.digest},
    }


ICEBERG = IcebergMaintainer()
