"""Adds the proposal to end an emergency stop, and keeps a lake from two presses."""

from typing import Any

from django.db import migrations, models


def name_the_open_ones(apps: Any, schema_editor: Any) -> None:
    """Give the first press of each lake its key, and end others: a database may have held both."""
    stops = apps.get_model("safety", "EmergencyStop").objects.filter(released_at=None)
    taken: set[str] = set()
    for press in stops.order_by("pressed_at", "pk"):
        if press.lake in taken:
            press.released_at, press.released_by = press.pressed_at, "system"
            press.release_reason = "Pressed again: the first press stands."
        else:
            taken.add(press.lake)
            press.is_open = True
        press.save()


class Migration(migrations.Migration):
    dependencies = [("safety", "0001_squashed")]

    operations = [
        migrations.AddField(
            model_name="emergencystop",
            name="release_id",
            field=models.UUIDField(null=True),
        ),
        migrations.AddField(
            model_name="emergencystop",
            name="release_proposed_by",
            field=models.CharField(blank=True, max_length=150, default=""),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="emergencystop",
            name="release_proposed_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="emergencystop",
            name="is_open",
            field=models.BooleanField(null=True),
        ),
        migrations.RunPython(name_the_open_ones, migrations.RunPython.noop),
        migrations.RemoveConstraint(model_name="emergencystop", name="act_pressed_once"),
        migrations.AlterField(
            model_name="emergencystop",
            name="is_open",
            field=models.BooleanField(default=True, null=True),
        ),
        migrations.AddConstraint(
            model_name="emergencystop",
            constraint=models.UniqueConstraint(
                fields=["lake", "is_open"], name="safety_pressed_once"
            ),
        ),
    ]
