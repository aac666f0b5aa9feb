"""Puts waiting tasks of Iceberg tables in order, by gain over cost and within budgets.

What begins then and in which run is the dispatcher's part (`optimizer.core.services.dispatcher`).
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, tzinfo

from optimizer.core.domain.estimates import UNMEASURED, Estimate
from optimizer.core.domain.scoring import Candidate, Chosen, choose, rank
from optimizer.core.services.maintainers import Arranged
from optimizer.core.services.speeds import speed_of
from optimizer.iceberg.planner.domain.deciding import hold_reason
from optimizer.models import OptimizeTask
from optimizer.policies.selectors.policies import TablePolicy, policies_of
from optimizer.policies.services.budgets import seconds_spent
from portal.access.lakes import get_lake


def arrange(lake: str, tasks: Sequence[OptimizeTask], *, now: datetime) -> Arranged:
    """Arrange tasks: what people asked for first, whatever hour and budget say."""
    policies, zone = policies_of(lake), get_lake(lake).zone
    rows = {str(task.pk): task for task in tasks}
    free: defaultdict[str, list[Candidate]] = defaultdict(list)
    found: dict[str, TablePolicy] = {}
    held: list[tuple[OptimizeTask, str]] = []
    for key, task in rows.items():
        found[key] = policies.of(task.iceberg.db, task.iceberg.table)
        why = _held_by_hour(task, found[key], zone, now=now)
        if why:
            held.append((task, why))
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
