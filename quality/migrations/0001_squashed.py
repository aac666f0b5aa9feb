"""The tables of the app `readiness`, in place of the steps that made them (ADR 0035)."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("readiness", "0001_first"),
        ("readiness", "0002_plain_words"),
        ("readiness", "0003_plain_model_names"),
        ("readiness", "0004_plain_field_names"),
    ]

    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="FreshnessRule",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("lake", models.CharField(max_length=32)),
                ("db", models.CharField(max_length=128)),
                ("table", models.CharField(max_length=256)),
                ("owner", models.CharField(blank=True, max_length=128)),
                ("time_key", models.CharField(max_length=128)),
                (
                    "time_format",
                    models.CharField(
                        choices=[
                            ("yyyy-MM-dd", "yyyy-MM-dd"),
                            ("yyyyMMdd", "yyyyMMdd"),
                            ("yyyy-MM-dd-HH", "yyyy-MM-dd-HH"),
                            ("yyyyMMddHH", "yyyyMMddHH"),
                        ],
                        max_length=16,
                    ),
                ),
                ("hour_key", models.CharField(blank=True, max_length=128)),
                (
                    "sla_minutes",
                    models.PositiveIntegerField(
                        help_text="ready so long after the period's end at the latest", null=True
                    ),
                ),
                (
                    "delay_minutes",
                    models.PositiveIntegerField(
                        help_text="ready by rule so long after the period's end", null=True
                    ),
                ),
                ("min_rows", models.PositiveBigIntegerField(null=True)),
                ("min_files", models.PositiveIntegerField(null=True)),
                ("version", models.PositiveIntegerField(default=0)),
                ("set_by", models.CharField(max_length=150)),
                ("set_at", models.DateTimeField()),
                (
                    "noted_until",
                    models.DateTimeField(help_text="periods that ended by then have their row"),
                ),
                ("look_at", models.DateTimeField(help_text="when its partitions are checked next")),
                ("inspected_at", models.DateTimeField(null=True)),
                ("problem", models.TextField(blank=True, help_text="why the last check failed")),
            ],
            options={
                "indexes": [
                    models.Index(fields=["lake", "look_at"], name="readiness_rule_look"),
                    models.Index(fields=["owner"], name="readiness_rule_owner"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("lake", "db", "table"), name="readiness_rule_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ExpectedPartition",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "rule",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="awaited",
                        to="readiness.freshnessrule",
                    ),
                ),
                ("lake", models.CharField(max_length=32)),
                (
                    "spec",
                    models.CharField(
                        help_text="the part of the name that means it", max_length=320
                    ),
                ),
                ("start", models.DateTimeField()),
                ("end", models.DateTimeField(help_text="from then on it is expected")),
                ("due_at", models.DateTimeField(null=True)),
                (
                    "standing",
                    models.CharField(
                        choices=[
                            ("MISSING", "MISSING"),
                            ("UNREADY", "UNREADY"),
                            ("READY", "READY"),
                        ],
                        default="MISSING",
                        max_length=8,
                    ),
                ),
                ("ready_at", models.DateTimeField(null=True)),
                (
                    "ready_by",
                    models.CharField(
                        blank=True, help_text="who said so; rule: the rule", max_length=150
                    ),
                ),
                (
                    "reason",
                    models.TextField(blank=True, help_text="why it was set, or what it waits for"),
                ),
                ("seen_at", models.DateTimeField(null=True)),
                (
                    "came_late",
                    models.BooleanField(default=False, help_text="it was ready, after its time"),
                ),
                (
                    "is_held",
                    models.BooleanField(
                        default=False,
                        help_text="said to be not ready after it was: no rule says otherwise",
                    ),
                ),
                (
                    "is_given_up",
                    models.BooleanField(default=False, help_text="not checked any more"),
                ),
                (
                    "notified_at",
                    models.DateTimeField(help_text="when people were written to", null=True),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["lake", "start"], name="readiness_awaited_start"),
                    models.Index(
                        fields=["lake", "standing", "due_at"], name="readiness_awaited_late"
                    ),
                    models.Index(
                        fields=["lake", "came_late", "start"], name="readiness_awaited_came"
                    ),
                    models.Index(fields=["rule", "standing"], name="readiness_awaited_rule"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("rule", "start"), name="readiness_awaited_once")
                ],
            },
        ),
    ]
