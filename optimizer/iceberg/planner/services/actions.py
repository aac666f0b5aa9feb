"""Requests to the optimizer: run now, dry run, cancel, pause a table and resume it.

Owners of a table, administrators of its database and admins and operators may. All of it is
audited; `user` None is whoever stands at the shell.
"""

from collections.abc import Sequence
from datetime import datetime

from optimizer.core.domain.tasks import DESTRUCTIVE, REWRITES, TaskKind
from optimizer.core.services.actions import (
    Asked,
    check_maintained,
    check_visible,
    parse_reason,
    task_ask,
)
from optimizer.core.services.speeds import speed_of
from optimizer.iceberg.planner.domain.plans import Plan
from optimizer.iceberg.planner.services.planner import asked_of, plan_of
from optimizer.models import IcebergTable, OptimizeTask
from optimizer.policies.selectors.policies import policies_of
from portal.access.models import User
from portal.lake.errors import RuleViolation, StaleState


def dry_run(row: IcebergTable, *, user: User | None, now: datetime) -> Plan:
    """Say what would be done to a table now, at which cost, and why the rest is not.

    Raises:
        NotVisible: `optimizer.table`; StaleState: `optimizer.not_looked_at`.
    """
    check_visible(row, user)
    if row.inspected_at is None:
        raise StaleState(
            "optimizer.not_looked_at",
            f"The files of {row} have not been inspected yet, so nothing can be planned. An "
            "inspection is "
            "due; ask again in some minutes.",
        )
    found = policies_of(row.lake).of(row.db, row.table)
    return plan_of(row, found, speed=speed_of(row.lake), now=now)


def optimize_now(
    row: IcebergTable,
    kind: TaskKind,
    *,
    user: User | None,
    reason: str,
    partitions: Sequence[str] | None = None,
    now: datetime,
) -> OptimizeTask:
    """Queue a task that begins with the next run, whatever the blackout windows and the budget say.

    An open task of the kind is put first instead of a second one.

    Raises:
        NotVisible: `optimizer.table`; RuleViolation: `optimizer.reason`;
        StaleState: `optimizer.gone`, `optimizer.paused`, `optimizer.running`,
        `optimizer.to_approve`.
    """
    check_visible(row, user)
    reason = parse_reason(reason)
    check_maintained(row)
    found = policies_of(row.lake).of(row.db, row.table)
    asked = Asked(
        kind.value,
        reason,
        f"What {kind} of {row} would remove",
        {
            "partitions": None if partitions is None else list(partitions),
            **asked_of(found, kind),
        },
        if_new={"snapshot_id": row.snapshot_id},
    )
    return task_ask(row, asked, user=user, now=now)


def removal_ask(
    row: IcebergTable, kind: str, *, user: User | None, reason: str, now: datetime
) -> OptimizeTask:
    """Have a list created of what a removal would take; nothing goes before others approve it.

    Raises:
        NotVisible: `optimizer.table`; RuleViolation: `optimizer.removal_kind`, and as
        `optimize_now`.
    """
    check_visible(row, user)
    if kind not in DESTRUCTIVE:
        raise RuleViolation(
            "optimizer.removal_kind", "Say EXPIRE for old snapshots, or ORPHANS for orphan files."
        )
    return optimize_now(row, TaskKind(kind), user=user, reason=reason, now=now)


def kind_for_now(row: IcebergTable) -> TaskKind:
    """Return what "run now" means where nobody names a kind: the open rewrite, else a bin-pack."""
    kinds = row.tasks.filter(is_open=True, kind__in=REWRITES).order_by("-score", "pk")
    kind = kinds.values_list("kind", flat=True).first()
    return TaskKind(kind) if kind else TaskKind.MINOR
