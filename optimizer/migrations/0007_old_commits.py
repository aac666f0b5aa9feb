"""Old commits are found by their time, of all tables at once, to be forgotten."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("optimizer", "0006_waiting_for_others"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="commit",
            index=models.Index(fields=["at"], name="optimizer_commit_old"),
        ),
    ]
