"""What ended lately is found by its time: the queue's page and the measured speed ask for it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("optimizer", "0002_policies"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="optimizetask",
            index=models.Index(fields=["ended_at"], name="optimizer_task_ended"),
        ),
    ]
