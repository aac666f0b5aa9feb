"""What is kept of looks at Hudi tables beside their findings, and the alarms that they raise."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("optimizer", "0011_hudi_tasks"),
    ]

    operations = [
        migrations.AddField(
            model_name="huditable",
            name="keys_read_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="huditable",
            name="logs_read_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="huditable",
            name="properties",
            field=models.JSONField(
                default=dict, help_text="of the metastore's, those that say who does what"
            ),
        ),
        migrations.AddField(
            model_name="huditable",
            name="unseen",
            field=models.JSONField(
                default=list, help_text="in words: what the last look cannot tell"
            ),
        ),
        migrations.AddField(
            model_name="huditable",
            name="wants_keys",
            field=models.BooleanField(default=False, help_text="the next look compares its keys"),
        ),
        migrations.AddField(
            model_name="huditable",
            name="wants_logs",
            field=models.BooleanField(default=False, help_text="the next look reads its log files"),
        ),
        migrations.CreateModel(
            name="HudiAlarm",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("code", models.CharField(help_text="of the finding", max_length=32)),
                ("is_open", models.BooleanField(default=True, null=True)),
                ("severity", models.CharField(max_length=16)),
                ("words", models.TextField()),
                ("opened_at", models.DateTimeField()),
                ("closed_at", models.DateTimeField(null=True)),
                (
                    "told_at",
                    models.DateTimeField(help_text="when people were written to", null=True),
                ),
                ("over_told_at", models.DateTimeField(null=True)),
                (
                    "table",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="alarms",
                        to="optimizer.huditable",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["is_open", "code"], name="optimizer_hudi_alarm_open")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("table", "code", "is_open"), name="optimizer_hudi_alarm_once"
                    )
                ],
            },
        ),
    ]
