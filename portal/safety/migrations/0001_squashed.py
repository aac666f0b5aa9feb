"""The tables of the app `safety`, in place of the steps that made them (ADR 0035)."""

from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [("safety", "0001_initial"), ("safety", "0002_plain_model_names")]

    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="EmergencyStop",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
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
        ),
    ]
