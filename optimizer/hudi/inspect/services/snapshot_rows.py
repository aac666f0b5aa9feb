"""Stores an inspection of one Hudi table in the portal's database.

All of it in one transaction, and only where it is newer than what stands there: two runs may end
in another order than they began.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from optimizer.core.domain.sizes import size_words
from optimizer.core.domain.trend import Point, is_told
from optimizer.hudi.inspect.domain.alarms import raised
from optimizer.hudi.inspect.domain.facts import Action, HudiInspection
from optimizer.hudi.inspect.domain.findings import Severity
from optimizer.hudi.inspect.domain.health import health_of
from optimizer.hudi.inspect.domain.quality import failures, not_looked_at
from optimizer.hudi.inspect.domain.schedule import carried, next_inspection_at
from optimizer.hudi.inspect.domain.staleness import Staleness, staleness_of
from optimizer.hudi.inspect.domain.timeline import PLANNED, last_write_at, pending, stuck, unfit
from optimizer.hudi.inspect.services.alarms import alarms_keep
from optimizer.hudi.inspect.services.instant_rows import instants_keep
from optimizer.models import HudiPoint, HudiTable, StoredInspection
from optimizer.policies.domain.hudi_policy import HudiPolicy
from portal.catalog.services.table_commits import commits_noticed
from portal.lake.errors import RuleViolation

MOST_PACKED = 8 * 1024**2
MOST_SLICES = 500_000
_NOT_EXECUTED = PLANNED | {Action.CLEAN}


@dataclass(frozen=True, slots=True)
class ReadLook:
    """A look as a job found it, and what was read for it."""

    look: HudiInspection
    read_logs: bool
    read_keys: bool


@transaction.atomic
def look_keep(lake: str, key: int, found: ReadLook, policy: HudiPolicy, *, now: datetime) -> bool:
    """Show what was found of a table; False where it is gone, or a newer look is shown already.

    Raises:
        RuleViolation: `hudi.too_large`, the look is more than pages and decisions can take.
    """
    rows = HudiTable.objects.select_for_update().filter(pk=key, lake=lake, is_deleted=False)
    table = rows.first()
    at = found.look.inspected_at
    if table is None or (table.inspected_at is not None and table.inspected_at >= at):
        return False
    refuse_too_many(len(found.look.slices))
    before = _before(table)
    look = carried(found.look, before, read_logs=found.read_logs, read_keys=found.read_keys)
    packed = StoredInspection.pack(look)
    if len(packed) > MOST_PACKED:
        raise RuleViolation(
            "hudi.too_large",
            f"Its inspection takes {size_words(len(packed))} packed, and {size_words(MOST_PACKED)} "
            "are kept of one; let its writer archive more of its timeline, or cluster the table "
            "into fewer file groups.",
        )
    StoredInspection.objects.update_or_create(table=table, defaults={"at": at, "packed": packed})
    instants_keep(table, look)
    _show(table, found, look, policy, now=now)
    return True


def refuse_too_many(n_slices: int) -> None:
    """Refuse a look at more file groups than are kept: RuleViolation `hudi.too_large`."""
    if n_slices > MOST_SLICES:
        raise RuleViolation(
            "hudi.too_large",
            f"It has {n_slices:,} file groups, and {MOST_SLICES:,} are inspected; cluster the "
            "table into fewer.",
        )


def _show(
    table: HudiTable, found: ReadLook, look: HudiInspection, policy: HudiPolicy, *, now: datetime
) -> None:
    health, findings = health_of(look, policy, now), failures(look, policy, now)
    left_alone, stale = unfit(look), staleness_of(look)
    severities = [one.severity for one in findings]
    table.inspected_at = look.inspected_at
    table.inspection_error = ""
    if left_alone is not None and left_alone.code == "unsupported":
        table.inspection_error = left_alone.reason
    table.table_type, table.version = look.table.table_type.value, look.table.version
    table.health = None if health is None else health.score
    table.deductions = [] if health is None else health.as_list()
    table.findings = [one.as_dict() for one in findings]
    table.unseen = list(not_looked_at(look))
    table.n_critical = severities.count(Severity.CRITICAL)
    table.n_warnings = severities.count(Severity.WARNING)
    table.n_pending = len(pending(look, _NOT_EXECUTED))
    table.n_stuck = len(stuck(look, patience=policy.patience, now=now))
    table.n_file_groups = len({one.group for one in look.slices})
    table.base_bytes = sum(one.base_bytes or 0 for one in look.slices)
    table.log_bytes = sum(one.log_bytes for one in look.slices)
    written_at = last_write_at(look) or table.written_at
    if written_at != table.written_at:  # its writer may tell the metastore nothing
        commits_noticed(table.lake, [(table.db, table.table)], now=now)
    table.written_at = written_at
    table.stale_since = None if stale is None else stale.since
    if found.read_logs:
        table.logs_read_at, table.include_logs = look.inspected_at, False
    if found.read_keys:
        table.keys_read_at, table.wants_keys = look.inspected_at, False
    # What was heard of or asked for since the look began, or asked for more closely, stays due.
    due_at = table.inspect_due_at
    is_since = table.event_at > look.inspected_at or (
        due_at is not None and look.inspected_at < due_at <= now
    )
    if not (is_since or table.include_logs or table.wants_keys):
        table.inspect_due_at = next_inspection_at(look.inspected_at, policy)
    table.save()
    _point(table, stale, n_uncompacted=len(look.uncompacted))
    alarms_keep(table, look, raised(look, findings), now=now)


def _before(table: HudiTable) -> HudiInspection | None:
    stored = StoredInspection.objects.filter(table=table).first()
    if stored is None:
        return None
    try:
        return stored.look()
    except RuleViolation:  # kept by a release that wrote another form
        return None


def _point(table: HudiTable, stale: Staleness | None, *, n_uncompacted: int) -> None:
    """Write a point of the trend; it takes the place of one that tells nothing beside it."""
    at = table.inspected_at
    if at is None:
        return
    points = HudiPoint.objects.filter(table=table)
    values: dict[str, Any] = {
        "health": table.health,
        "stale_seconds": stale.behind(at).total_seconds() if stale else 0.0,
        "n_uncompacted": n_uncompacted,
        "n_pending": table.n_pending or 0,
        "log_bytes": table.log_bytes or 0,
        "base_bytes": table.base_bytes or 0,
    }
    points.update_or_create(table=table, at=at, defaults=values)
    last = list(points.filter(at__lt=at).order_by("-at")[:2])
    if len(last) == 2:
        between, before = (Point(one.at, one.health or 0.0) for one in last)
        if is_told(before, between, Point(at, table.health or 0.0)):
            points.filter(pk=last[0].pk).delete()
