"""Ends queued runs that only started other runs: the scheduler starts approved plans itself now."""

from typing import Any

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.utils import timezone

_KINDS = ("lifecycle.start_plans", "lifecycle.start_path_fixes")


def end(apps: Apps, schema_editor: BaseDatabaseSchemaEditor | None) -> None:
    """Cancel what is left: no worker knows these kinds any more."""
    run: Any = apps.get_model("runs", "Run")
    left = run.objects.filter(kind__in=_KINDS, finished_at=None)
    left.update(state="CANCELLED", finished_at=timezone.now(), lease_owner="", lease_until=None)


class Migration(migrations.Migration):
    """Ends runs of the kinds that are gone."""

    dependencies = [("lifecycle", "0017_cancelled_plans"), ("runs", "0004_result_files")]
    operations = [migrations.RunPython(end, migrations.RunPython.noop)]
