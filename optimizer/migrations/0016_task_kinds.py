"""Takes the list of kinds off the column: each format says which kinds its tasks have."""

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("optimizer", "0015_hudi_recovery")]

    operations: ClassVar = [
        migrations.AlterField(
            model_name="optimizetask",
            name="kind",
            field=models.CharField(help_text="one of its table's `task_kinds`", max_length=32),
        ),
    ]
