"""Writes the totals of each owner's part of a plan, from the plan's table rows."""

from typing import Any

from django.db import transaction
from django.db.models import Count, Max, Min, Q, Sum

from lifecycle.models import DropPlan, DropPlanPart

_KEYS = ("db", "owner", "db_owner")
_SUMS: dict[str, Any] = {
    "of_n_tables": Count("pk"),
    "of_n_first": Count("pk", filter=Q(is_first_drop=True)),
    **{f"of_{name}": Sum(name) for name in ("n_items", "n_bytes", "n_files", "n_still_read")},
    "of_oldest_at": Min("oldest_at"),
    "of_newest_at": Max("newest_at"),
}
_CHUNK = 500


@transaction.atomic
def plan_parts_write(plan: DropPlan) -> int:
    """Write the sums of a plan's tables; written again they are the same. Gives how many rows."""
    tables = plan.tables.order_by()
    rows: list[dict[str, Any]] = list(tables.values(*_KEYS).annotate(**_SUMS))
    if rows:
        rows.append(tables.aggregate(**_SUMS))
    plan.parts.all().delete()
    DropPlanPart.objects.bulk_create(
        [
            DropPlanPart(
                plan=plan, lake=plan.lake, **{key.removeprefix("of_"): row[key] for key in row}
            )
            for row in rows
        ],
        batch_size=_CHUNK,
    )
    return len(rows)
