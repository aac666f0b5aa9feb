"""Counts what a selection would put into a drop plan, before any plan exists.

The same rule as the plan's own (`drop.domain.refusal`, under the same circumstances) judges
the examples that the scan loaded. Locations and backup roots are judged only when the plan
is created, from the scan's files, which the portal's pages do not read.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.db.models import Q, QuerySet, Sum

from lifecycle.drop.domain.plan import PlanItem
from lifecycle.drop.domain.refusal import (
    EXPLANATIONS,
    Candidate,
    LeftOut,
    Names,
    left_out_by_class,
    refusal,
)
from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.models import DropPlan, SamplePartition, TableFinding
from lifecycle.planning.selectors.inputs import circumstances_of, current_generation
from lifecycle.policies.services.deletion_consents import recently_read_names
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.lake.clock import day_of
from portal.lake.errors import RuleViolation

DUE = (ExpiryClass.CLEAN_NOW, ExpiryClass.STILL_READ)
MOST_JUDGED = 20_000


@dataclass(frozen=True, slots=True)
class Preview:
    """What may go of a selection, what stays by reason, and how many due items were not judged.

    Not judged are items beyond the examples of their table and class: they are counted by nothing
    but their class.
    """

    n_tables: int
    n_items: int
    n_bytes: int
    left_out: Mapping[LeftOut, int]
    n_not_judged: int

    @property
    def is_empty(self) -> bool:
        """Whether it is certain that nothing may go."""
        return not self.n_items and not self.n_not_judged

    @property
    def reasons(self) -> list[tuple[LeftOut, int, str]]:
        """What stays, the most first, with the sentence that says why."""
        most = sorted(self.left_out.items(), key=lambda one: (-one[1], one[0]))
        return [(reason, n, EXPLANATIONS[reason]) for reason, n in most]


def plan_preview(
    lake: str, user: User, *, databases: Sequence[str], tables: Sequence[str], now: datetime
) -> Preview:
    """Judge the due items of a selection as a plan would, at most 20,000 of them one by one."""
    generation = current_generation(lake)
    chosen = _chosen(lake, user, databases=databases, tables=tables)
    today = day_of(now, get_lake(lake).zone)
    circumstances = replace(
        circumstances_of(DropPlan(lake=lake), generation, today=today, now=now),
        consent_to_recently_read=Names.of(recently_read_names(lake, today=today)),
    )
    counts = _by_class(chosen)
    n_due = sum(counts.pop(cls) for cls in DUE)
    left_out = Counter({left_out_by_class(cls): n for cls, n in counts.items()})
    n_items = n_bytes = n_judged = 0
    for row in _due(chosen):
        n_judged += 1
        candidate = _candidate(row)
        reason = LeftOut.UNKNOWN if candidate is None else refusal(candidate, circumstances)
        if reason is None:
            n_items, n_bytes = n_items + 1, n_bytes + (row.n_bytes or 0)
        else:
            left_out[reason] += 1
    return Preview(
        n_tables=chosen.count(),
        n_items=n_items,
        n_bytes=n_bytes,
        left_out={reason: n for reason, n in left_out.items() if n},
        n_not_judged=max(n_due - n_judged, 0),
    )


def require_something(preview: Preview) -> None:
    """Raise RuleViolation `plan.nothing` where nothing of a selection may go, with the reasons."""
    if not preview.is_empty:
        return
    said = "; ".join(f"{n:,}: {reason}" for _, n, reason in preview.reasons) or "no item is chosen."
    raise RuleViolation(
        "plan.nothing",
        f"Nothing of this selection may be dropped now, so no plan was created. {said}",
    )


def _chosen(
    lake: str, user: User, *, databases: Sequence[str], tables: Sequence[str]
) -> QuerySet[TableFinding]:
    named = Q(db__in=databases)
    for name in tables:
        db, _, table = name.partition(".")
        named |= Q(db=db, table=table)
    return TableFinding.objects.current(lake).for_user(user).filter(named)


def _by_class(chosen: QuerySet[TableFinding]) -> dict[ExpiryClass, int]:
    columns = {cls: f"n_{cls.lower()}" for cls in ExpiryClass}
    sums = chosen.order_by().aggregate(**{f"sum_{one}": Sum(one) for one in columns.values()})
    return {cls: int(sums[f"sum_{column}"] or 0) for cls, column in columns.items()}


def _due(chosen: QuerySet[TableFinding]) -> QuerySet[SamplePartition]:
    mine = chosen.order_by().values("pk")
    due = SamplePartition.objects.filter(table__in=mine, cls__in=DUE).select_related("table")
    return due.order_by("pk")[:MOST_JUDGED]


def _candidate(row: SamplePartition) -> Candidate | None:
    """Return the row as the rule takes it; None where the scan could not tell all that it asks."""
    known = (row.level, row.ttl, row.created_at, row.updated_at, row.n_files, row.n_bytes)
    if None in known or row.due_on is None:
        return None
    item = PlanItem(
        db=row.table.db,
        table=row.table.table,
        tbl_id=row.table.tbl_id,
        partition=row.partition,
        part_id=row.part_id,
        location=row.location,
        level=row.level or 0,
        ttl=row.ttl or 0,
        policy_source=row.policy_source,
        ddl_time=_milliseconds(row.ddl_at) // 1000,
        create_time=_milliseconds(row.created_at) // 1000,
        mtime_ms=_milliseconds(row.modified_at),
        updated_ms=_milliseconds(row.updated_at),
        n_files=row.n_files or 0,
        n_bytes=row.n_bytes or 0,
        due_on=row.due_on,
    )
    return Candidate(item, ExpiryClass(row.cls), row.ready)


def _milliseconds(at: datetime | None) -> int:
    return 0 if at is None else round(at.timestamp() * 1000)
