"""Fences of runs that move data to another place."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("act", "0003_purge_words"),
    ]

    operations = [
        migrations.AlterField(
            model_name="actfence",
            name="kind",
            field=models.CharField(
                choices=[
                    ("DROP", "drop"),
                    ("RESTORE", "restore"),
                    ("PURGE", "purge"),
                    ("MOVE", "move"),
                ],
                max_length=8,
            ),
        ),
    ]
