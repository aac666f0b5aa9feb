"""Take over the red button, whose table the app `act` made."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Know the model; no SQL is run."""

    initial = True

    dependencies = [("act", "0007_batches_by_drop")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="RedButton",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("lake", models.CharField(max_length=32)),
                        ("pressed_by", models.CharField(max_length=150)),
                        ("pressed_at", models.DateTimeField()),
                        ("reason", models.TextField()),
                        ("released_by", models.CharField(blank=True, max_length=150)),
                        ("released_at", models.DateTimeField(null=True)),
                        ("release_reason", models.TextField(blank=True)),
                    ],
                    options={
                        "db_table": "act_redbutton",
                        "constraints": [
                            models.UniqueConstraint(
                                condition=models.Q(("released_at__isnull", True)),
                                fields=("lake",),
                                name="act_pressed_once",
                            )
                        ],
                    },
                )
            ]
        )
    ]
