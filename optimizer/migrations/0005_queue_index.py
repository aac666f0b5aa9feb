"""The queue is counted and put in order from its index alone, without its wide rows."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("optimizer", "0004_removal_plans"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="optimizetask",
            name="optimizer_queue",
        ),
        migrations.AddIndex(
            model_name="optimizetask",
            index=models.Index(fields=["state", "-score", "id", "table"], name="optimizer_queue"),
        ),
    ]
