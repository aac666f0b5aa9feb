"""Marks the runs that the schedule starts all day, so that lists leave them out by an index."""

from typing import Any

from django.db import migrations, models

# The kinds of that time, by name: later ones are marked when they are asked for.
ROUTINE = (
    "hudi_resident",
    "lifecycle.probe",
    "lifecycle.standing_plans",
    "observe_hudi",
    "observe_tables",
    "optimizer.poll",
    "readiness.look",
)


def mark(apps: Any, schema_editor: Any) -> None:
    """Mark those that are stored and have not failed."""
    runs = apps.get_model("runs", "Run").objects
    runs.filter(kind__in=ROUTINE).exclude(state="FAILED").update(is_routine=True)


class Migration(migrations.Migration):
    dependencies = [("runs", "0001_squashed")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="is_routine",
            field=models.BooleanField(default=False),
        ),
        migrations.RunPython(mark, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                fields=["lake", "is_routine", "queued_at", "id"], name="runs_by_routine"
            ),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["lake", "state", "queued_at"], name="runs_by_state"),
        ),
    ]
