"""Hudi tables, what the last look at each found, and their trend."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("optimizer", "0008_old_writes"),
    ]

    operations = [
        migrations.CreateModel(
            name="HudiPoint",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField()),
                ("health", models.FloatField(null=True)),
                ("stale_seconds", models.FloatField(default=0)),
                (
                    "n_uncompacted",
                    models.PositiveIntegerField(default=0, help_text="delta commits only in logs"),
                ),
                ("n_pending", models.PositiveIntegerField(default=0)),
                ("log_bytes", models.BigIntegerField(default=0)),
                ("base_bytes", models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="HudiTable",
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
                ("location", models.TextField()),
                ("place", models.CharField(help_text="sha256 of the location", max_length=64)),
                ("owner", models.CharField(blank=True, max_length=128)),
                ("is_gone", models.BooleanField(default=False)),
                ("gone_at", models.DateTimeField(null=True)),
                (
                    "heard_at",
                    models.DateTimeField(help_text="when the portal last heard of a change"),
                ),
                ("looked_at", models.DateTimeField(null=True)),
                ("look_due_at", models.DateTimeField(null=True)),
                (
                    "look_problem",
                    models.TextField(blank=True, help_text="why the last look found nothing"),
                ),
                ("table_type", models.CharField(blank=True, max_length=16)),
                (
                    "version",
                    models.PositiveSmallIntegerField(help_text="hoodie.table.version", null=True),
                ),
                (
                    "health",
                    models.FloatField(help_text="0 to 100; null until it was looked at", null=True),
                ),
                (
                    "deductions",
                    models.JSONField(default=list, help_text="what the score lost, and why"),
                ),
                (
                    "findings",
                    models.JSONField(default=list, help_text="what is wrong, the worst first"),
                ),
                ("n_critical", models.PositiveIntegerField(default=0)),
                ("n_warnings", models.PositiveIntegerField(default=0)),
                (
                    "n_pending",
                    models.PositiveIntegerField(help_text="plans that are not executed", null=True),
                ),
                ("n_stuck", models.PositiveIntegerField(null=True)),
                ("n_file_groups", models.BigIntegerField(null=True)),
                ("base_bytes", models.BigIntegerField(null=True)),
                ("log_bytes", models.BigIntegerField(null=True)),
                (
                    "written_at",
                    models.DateTimeField(help_text="its newest completed write", null=True),
                ),
                (
                    "stale_since",
                    models.DateTimeField(
                        help_text="the oldest write that its read-optimized view lacks", null=True
                    ),
                ),
                ("decided_at", models.DateTimeField(null=True)),
                (
                    "verdict",
                    models.TextField(
                        blank=True, help_text="in words: what is done, or why nothing is"
                    ),
                ),
                (
                    "verdicts",
                    models.JSONField(
                        default=list, help_text="of each step of each service, and why"
                    ),
                ),
                ("is_paused", models.BooleanField(default=False)),
                ("paused_by", models.CharField(blank=True, max_length=150)),
                ("paused_at", models.DateTimeField(null=True)),
                ("paused_why", models.TextField(blank=True)),
            ],
        ),
        migrations.CreateModel(
            name="StoredLook",
            fields=[
                (
                    "table",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="stored_look",
                        serialize=False,
                        to="optimizer.huditable",
                    ),
                ),
                ("at", models.DateTimeField()),
                ("packed", models.BinaryField(help_text="the look's JSON, deflated")),
            ],
        ),
        migrations.AddIndex(
            model_name="huditable",
            index=models.Index(
                fields=["lake", "is_gone", "health"], name="optimizer_hudi_by_health"
            ),
        ),
        migrations.AddIndex(
            model_name="huditable",
            index=models.Index(fields=["look_due_at"], name="optimizer_hudi_look_due"),
        ),
        migrations.AddConstraint(
            model_name="huditable",
            constraint=models.UniqueConstraint(
                fields=("lake", "db", "table", "place"), name="optimizer_hudi_once"
            ),
        ),
        migrations.AddField(
            model_name="hudipoint",
            name="table",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="trend",
                to="optimizer.huditable",
            ),
        ),
        migrations.AddConstraint(
            model_name="hudipoint",
            constraint=models.UniqueConstraint(
                fields=("table", "at"), name="optimizer_hudi_point_once"
            ),
        ),
    ]
