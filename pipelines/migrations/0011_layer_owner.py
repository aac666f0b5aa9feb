from typing import Any

from django.db import migrations, models


def owners_set(apps: Any, schema_editor: Any) -> None:
    """Take who set a layer last for who defined it."""
    layers = apps.get_model("pipelines", "Layer").objects
    layers.filter(owner="").update(owner=models.F("set_by"))


class Migration(migrations.Migration):
    dependencies = [
        ("pipelines", "0010_materialization_advice"),
    ]

    operations = [
        migrations.AddField(
            model_name="layer",
            name="owner",
            field=models.CharField(
                default="",
                help_text="by whose right to rows it reads: who set the definition",
                max_length=150,
            ),
            preserve_default=False,
        ),
        migrations.RunPython(owners_set, migrations.RunPython.noop),
    ]
