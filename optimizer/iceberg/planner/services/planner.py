"""Queues tasks, from a commit's own totals and from the inspection of the table.

One task is open a table and kind. A commit that was just heard makes a task from its own totals,
without any look; once the partitions were looked at, `decide_due` has the last word and takes back
what is not needed after all. What a person asked for is taken back by people only.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from math import isfinite
from typing import Any

from django.db import transaction
from django.db.models import Max, Q

from optimizer.core.domain.estimates import UNMEASURED, Speed
from optimizer.core.domain.scoring import Candidate, score_of
from optimizer.core.domain.tasks import REWRITES, TaskKind, TaskState
from optimizer.core.selectors.tables import to_decide
from optimizer.core.services.bulk_rows import insert_rows
from optimizer.core.services.speeds import speed_of
from optimizer.core.services.task_lifecycle import NOT_SENT, lock_to_decide, take_back
from optimizer.iceberg.cubing.selectors import behind_joined, n_cubes_behind, with_cubes
from optimizer.iceberg.indexing.selectors import index_state, wanted_of
from optimizer.iceberg.inspect.domain.stats import PartitionStats, TableStats
from optimizer.iceberg.planner.domain.commit_trigger import Totals, get_commit_trigger
from optimizer.iceberg.planner.domain.conflicts import APPEND, REMEMBERED, CommitFact
from optimizer.iceberg.planner.domain.maintenance import LastTimes
from optimizer.iceberg.planner.domain.plans import Plan, PlannedTask, TableFacts, make_plan
from optimizer.models import Commit, IcebergTable, OptimizeTask
from optimizer.policies.selectors.policies import LakePolicies, TablePolicy, policies_of
from optimizer.removals.domain.states import REFUSED
from portal.access.lakes import get_lake

AT_ONCE = 200
# Else what has its deletes applied would be written once more, for its order.
ORDERS = frozenset({TaskKind.CLUSTER, TaskKind.FULL, TaskKind.MAJOR, TaskKind.DELETES})
# Statistics begin with the columns by which rows lie.
ASKS_FOR_LAYOUT = ORDERS | {TaskKind.STATISTICS}
_COMMITS = 2_000
_LATELY = timedelta(hours=6)
# By then its partitions were looked at, which says which of them others leave alone.
_UNTIL_LOOKED_AT = timedelta(minutes=15)
_OTHERS_WRITE = (
    "Other writers change or delete rows of this table: its partitions are inspected first."
)
_WORKED = (TaskState.DONE, TaskState.PARTIAL)
_CAME_TO = {
    **dict.fromkeys(_WORKED, "done"),
    TaskState.NOTHING: "nothing",
    TaskState.FAILED: "failed",
}


def queue_events(tables: Iterable[IcebergTable], *, now: datetime) -> int:
    """Queue the tables whose commit, just heard, says by itself that files shall be merged."""
    rows = [row for row in tables if not row.is_paused]
    if not rows:
        return 0
    policies = {lake: policies_of(lake) for lake in {row.lake for row in rows}}
    n_indexes = _queue_indexes(rows, policies, now=now) + _queue_cubes(rows, policies, now=now)
    keys = [row.pk for row in rows]
    busy = set(
        OptimizeTask.objects.filter(table__in=keys, is_open=True, kind__in=REWRITES).values_list(
            "table", flat=True
        )
    )
    rewritten = _last_rewritten(keys)
    changed = _changed_by_others(keys, now=now)
    new = []
    for row in rows:
        if row.pk in busy:
            continue
        found = policies[row.lake].of(row.db, row.table)
        word = get_commit_trigger(
            Totals(row.n_files, row.n_bytes, row.n_partitions),
            policy=found.policy,
            last_rewritten_at=rewritten.get(row.pk),
            now=now,
        )
        if word is not None:
            candidate = Candidate(str(row.pk), word.estimate, now)
            new.append(
                OptimizeTask(
                    table=row,
                    kind=TaskKind.MINOR,
                    reason=word.reason,
                    score=score_of(candidate, speed=UNMEASURED),
                    estimate=word.estimate.as_dict(),
                    snapshot_id=row.snapshot_id,
                    created_at=now,
                    event_at=row.event_at,
                    **(_until_looked_at(now) if row.pk in changed else {}),
                    **asked_of(found, TaskKind.MINOR),
                )
            )
    insert_rows(new)
    return len(new) + n_indexes


def _queue_indexes(
    rows: Sequence[IcebergTable], policies: Mapping[str, LakePolicies], *, now: datetime
) -> int:
    """Have what a commit wrote be indexed, where the policy names columns."""
    found = {row: policies[row.lake].of(row.db, row.table) for row in rows}
    wanted = {
        row: of
        for row, of in found.items()
        if of.policy.is_on and of.policy.index_columns and TaskKind.INDEX in of.policy.kinds
    }
    return _queue_beside(wanted, TaskKind.INDEX, now=now)


def _queue_cubes(
    rows: Sequence[IcebergTable], policies: Mapping[str, LakePolicies], *, now: datetime
) -> int:
    """Have cubes of tables follow what a commit wrote."""
    kept = with_cubes(rows)
    found = {row: policies[row.lake].of(row.db, row.table) for row in rows if row.pk in kept}
    wanted = {
        row: of for row, of in found.items() if of.policy.is_on and TaskKind.CUBE in of.policy.kinds
    }
    return _queue_beside(wanted, TaskKind.CUBE, now=now)


def queue_joined(lake: str, changed: Iterable[IcebergTable], *, now: datetime) -> int:
    """Have cubes follow the tables that they join: with a new snapshot of one they are not used.

    A rewrite of our own is a new snapshot too. Called again while the task is open it queues none.
    """
    behind = {
        row: names for row, names in behind_joined(lake, changed).items() if not row.is_paused
    }
    if not behind:
        return 0
    policies = policies_of(lake)
    found = {row: policies.of(row.db, row.table) for row in behind}
    wanted = {
        row: of for row, of in found.items() if of.policy.is_on and TaskKind.CUBE in of.policy.kinds
    }
    reasons = {
        row: f"{', '.join(names)} changed, which a cube joins." for row, names in behind.items()
    }
    return _queue_beside(wanted, TaskKind.CUBE, reasons=reasons, now=now)


def _queue_beside(
    wanted: Mapping[IcebergTable, TablePolicy],
    kind: TaskKind,
    *,
    reasons: Mapping[IcebergTable, str] | None = None,
    now: datetime,
) -> int:
    if not wanted:
        return 0
    opened = OptimizeTask.objects.filter(table__in=wanted, kind=kind, is_open=True)
    busy = set(opened.values_list("table", flat=True))
    new = [
        OptimizeTask(
            table=row,
            kind=kind,
            reason=(reasons or {}).get(row, "A commit wrote data files."),
            snapshot_id=row.snapshot_id,
            created_at=now,
            event_at=row.event_at,
            **asked_of(of, kind),
        )
        for row, of in wanted.items()
        if row.pk not in busy
    ]
    insert_rows(new)
    return len(new)


def decide_due(lake: str, *, now: datetime, limit: int = AT_ONCE) -> int:
    """Decide on the tables that were looked at since their last decision; returns how many.

    And again on those whose partitions waited for other writers until now.
    """
    due = to_decide(IcebergTable, lake, again=Q(decide_again_at__lte=now))[:limit]
    rows = due.prefetch_related("cubes")
    policies, speed = policies_of(lake), speed_of(lake)
    for row in rows:
        decide_table(row, policies=policies, speed=speed, now=now)
    return len(rows)


def decide_table(
    row: IcebergTable, *, policies: LakePolicies, speed: Speed | None, now: datetime
) -> Plan:
    """Decide what a table that was looked at needs, and bring its open tasks in line with it.

    Of two that decide at once the second changes nothing.
    """
    found = policies.of(row.db, row.table)
    plan = plan_of(row, found, speed=speed, now=now)
    with transaction.atomic():
        if not lock_to_decide(row):
            return plan
        open_tasks = {
            task.kind: task for task in row.tasks.select_for_update().filter(is_open=True)
        }
        scores = [_propose(row, one, open_tasks, found, speed=speed, now=now) for one in plan.tasks]
        kinds = {one.kind for one in plan.tasks}
        for kind, task in open_tasks.items():
            if kind not in kinds and task.state in NOT_SENT and not task.requested_by:
                take_back(task, reason=f"Not needed any more. {plan.words}", now=now)
        IcebergTable.objects.filter(pk=row.pk).update(
            decided_at=now,
            decision=plan.words,
            score=max(scores, default=None),
            waits_since=plan.waits_since,
            decide_again_at=plan.again_at,
        )
    return plan


def plan_of(row: IcebergTable, found: TablePolicy, *, speed: Speed | None, now: datetime) -> Plan:
    """Say what would be done to a table by what its last look found; begins nothing."""
    return make_plan(
        facts_of(row, found, now=now),
        policy=found.policy,
        speed=speed,
        zone=get_lake(row.lake).zone,
        now=now,
    )


def facts_of(row: IcebergTable, found: TablePolicy, *, now: datetime) -> TableFacts:
    """Gather what is known of a table from its last look, its commits and its finished tasks.

    Of its commits only those that could conflict with a rewrite: a stream appends each second.
    """
    names = [field.name for field in fields(PartitionStats)]
    looked = row.partitions.filter(snapshot_id=row.looked_snapshot_id or 0)
    partitions = [PartitionStats(**one) for one in looked.values(*names)]
    table = TableStats(
        row.n_files or 0,
        row.n_bytes or 0,
        row.n_rows or 0,
        row.n_delete_files or 0,
        row.n_manifests or 0,
        row.n_snapshots or 0,
        row.n_partitions or 0,
        row.format_version or 2,
        **index_state(row, wanted_of(row, found.policy)),
        n_cubes_behind=n_cubes_behind(row),
    )
    changes = row.commits.filter(at__gte=now - REMEMBERED, is_ours=False).exclude(operation=APPEND)
    commits = changes.order_by("-at").values_list("at", "operation")[:_COMMITS]
    facts = [CommitFact(at, operation) for at, operation in commits]
    return TableFacts(
        partitions,
        table,
        facts,
        _last_times(row),
        waits_since=row.waits_since,
        tried_at=_last_tried(row) if row.waits_since else None,
    )


def _propose(
    row: IcebergTable,
    one: PlannedTask,
    open_tasks: dict[str, OptimizeTask],
    found: TablePolicy,
    *,
    speed: Speed | None,
    now: datetime,
) -> float:
    task = open_tasks.get(one.kind)
    since = task.created_at if task else now
    risk = one.advice.risk if one.advice else 0.0
    candidate = Candidate(str(row.pk), one.estimate, since, is_cold=one.is_cold, risk=risk)
    score = score_of(candidate, speed=speed or UNMEASURED)
    if task is not None and task.state not in NOT_SENT:
        return score
    if task is None:
        task = OptimizeTask(table=row, kind=one.kind, created_at=now, event_at=row.event_at)
    task.score, task.estimate = score, one.estimate.as_dict()
    task.risk, task.is_cold = risk, one.is_cold
    task.group_seconds = _finite(one.advice.seconds) if one.advice and not one.not_before else None
    # What a person asked for begins whatever others do, with the partitions that were named.
    if not task.requested_by:
        task.reason = one.reason
        task.partitions = None if one.partitions is None else list(one.partitions)
        _wait_for_others(task, one)
    task.snapshot_id = row.looked_snapshot_id
    for name, value in asked_of(found, one.kind).items():
        setattr(task, name, value)
    task.save()
    return score


def asked_of(found: TablePolicy, kind: TaskKind) -> dict[str, Any]:
    """Return the fields of a task that say which policy it follows.

    Only what takes all files that do not lie as asked puts rows in order; the others merge.
    """
    return {
        "target_bytes": found.policy.target_bytes,
        "layout": str(found.policy.layout) if kind in ASKS_FOR_LAYOUT else "",
        "policy_versions": list(found.versions),
    }


def _wait_for_others(task: OptimizeTask, one: PlannedTask) -> None:
    if one.advice is not None and one.not_before is not None:
        task.state, task.waits_for = TaskState.HELD, one.advice.reason
    elif task.not_before is not None:
        task.state, task.waits_for = TaskState.WAITING, ""
    task.not_before = one.not_before


def _until_looked_at(now: datetime) -> dict[str, Any]:
    return {
        "state": TaskState.HELD,
        "waits_for": _OTHERS_WRITE,
        "not_before": now + _UNTIL_LOOKED_AT,
    }


def _changed_by_others(keys: Sequence[int], *, now: datetime) -> set[int]:
    changes = Commit.objects.filter(table__in=keys, at__gte=now - _LATELY, is_ours=False)
    return set(changes.exclude(operation=APPEND).values_list("table", flat=True).distinct())


def _finite(seconds: float) -> float | None:
    return seconds if isfinite(seconds) else None


def _last_tried(row: IcebergTable) -> datetime | None:
    ended = row.tasks.filter(kind__in=REWRITES, ended_at__isnull=False)
    latest = ended.exclude(state=TaskState.CANCELLED).order_by("-ended_at").first()
    return latest.ended_at if latest else None


def _last_rewritten(keys: Sequence[int]) -> dict[int, datetime]:
    done = OptimizeTask.objects.filter(table__in=keys, kind__in=REWRITES, state__in=_WORKED)
    return dict(done.values_list("table").annotate(Max("ended_at")))


def _last_times(row: IcebergTable) -> LastTimes:
    ended = row.tasks.filter(ended_at__isnull=False).order_by()
    last: dict[str, dict[TaskKind, datetime]] = {"done": {}, "nothing": {}, "failed": {}}
    refused: dict[TaskKind, datetime] = {}
    states = ended.values_list("kind", "state").annotate(
        at=Max("ended_at"), by_people=Max("ended_at", filter=Q(outcome_code__in=REFUSED))
    )
    for kind, state, at, refused_at in states:
        if state in _CAME_TO:
            of = last[_CAME_TO[state]]
            of[TaskKind(kind)] = max(at, of.get(TaskKind(kind), at))
        if refused_at is not None:
            refused[TaskKind(kind)] = refused_at
    return LastTimes(last["done"], nothing=last["nothing"], failed=last["failed"], refused=refused)
