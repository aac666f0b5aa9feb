"""The sums of the plans that were drawn up before they were kept; new ones write their own."""

from typing import Any

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Count, Max, Min, Q, Sum

_SUMS = {
    "of_n_tables": Count("pk"),
    "of_n_first": Count("pk", filter=Q(is_first_drop=True)),
    **{f"of_{name}": Sum(name) for name in ("n_items", "n_bytes", "n_files", "n_still_read")},
    "of_oldest_at": Min("oldest_at"),
    "of_newest_at": Max("newest_at"),
}


def fill(apps: Apps, schema_editor: BaseDatabaseSchemaEditor | None) -> None:
    """Add up each plan's tables by database and owners, and as a whole."""
    part: Any = apps.get_model("lifecycle", "DropPlanPart")
    plan: Any = apps.get_model("lifecycle", "DropPlan")
    table: Any = apps.get_model("lifecycle", "DropPlanTable")
    keys = ("db", "owner", "db_owner")
    for pk, lake in plan.objects.values_list("pk", "lake").iterator():
        tables = table.objects.filter(plan_id=pk).order_by()
        rows = [*tables.values(*keys).annotate(**_SUMS)]
        if rows:
            rows.append(tables.aggregate(**_SUMS))
        part.objects.bulk_create(
            [
                part(plan_id=pk, lake=lake, **{key.removeprefix("of_"): row[key] for key in row})
                for row in rows
            ],
            batch_size=500,
        )


class Migration(migrations.Migration):
    """Fills `DropPlanPart`."""

    dependencies = [("lifecycle", "0012_plan_parts")]
    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
