"""The tables of the app `act`, in place of the steps that made them (ADR 0035)."""

import uuid

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("act", "0001_initial"),
        ("act", "0002_extension_holds"),
        ("act", "0003_purge_words"),
        ("act", "0004_moves"),
        ("act", "0005_backup_totals"),
        ("act", "0006_savings"),
        ("act", "0007_batches_by_drop"),
        ("act", "0008_red_button_is_of_safety"),
        ("act", "0009_plain_words"),
        ("act", "0010_plain_field_names"),
    ]

    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="BackupBatch",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("public_id", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("lake", models.CharField(max_length=32)),
                ("run_id", models.UUIDField()),
                ("epoch", models.PositiveIntegerField()),
                ("db", models.CharField(max_length=128)),
                ("table", models.CharField(max_length=128)),
                ("batch", models.PositiveIntegerField()),
                ("day", models.DateField(help_text="approval day in the lake's time zone")),
                ("root", models.CharField(max_length=1000)),
                (
                    "path",
                    models.CharField(
                        help_text="the sealed directory that holds it", max_length=1000
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("DROPPED", "dropped"),
                            ("PARTLY_RESTORED", "partly restored"),
                            ("RESTORED", "restored"),
                            ("PURGING", "purging"),
                            ("PURGED", "purged"),
                            ("REPORTED", "reported"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "is_table",
                    models.BooleanField(help_text="a whole unpartitioned table, not partitions"),
                ),
                ("table_owner", models.CharField(blank=True, max_length=150)),
                ("plan_id", models.CharField(blank=True, max_length=36)),
                ("digest", models.CharField(blank=True, max_length=64)),
                ("n_items", models.PositiveIntegerField(default=0)),
                ("n_bytes", models.BigIntegerField(default=0)),
                ("n_files", models.PositiveBigIntegerField(default=0)),
                ("n_restored", models.PositiveIntegerField(default=0)),
                ("restored_bytes", models.BigIntegerField(default=0)),
                ("n_skipped", models.PositiveIntegerField(default=0)),
                ("first_partition", models.CharField(blank=True, max_length=767)),
                ("last_partition", models.CharField(blank=True, max_length=767)),
                ("manifest_sha256", models.CharField(max_length=64)),
                (
                    "seconds",
                    models.FloatField(help_text="first rename to metadata drop", null=True),
                ),
                ("dropped_at", models.DateTimeField()),
                (
                    "purge_after",
                    models.DateTimeField(
                        help_text="its days, and every hour that the emergency stop was on since",
                        null=True,
                    ),
                ),
                (
                    "purge_tried_at",
                    models.DateTimeField(help_text="when a purge last came by", null=True),
                ),
                (
                    "purge_skipped_reason",
                    models.TextField(blank=True, help_text="why that purge skipped it"),
                ),
                ("purged_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["lake", "-day", "db", "table", "id"], name="act_by_day"),
                    models.Index(fields=["lake", "db", "table", "-day"], name="act_by_table"),
                    models.Index(fields=["lake", "state", "purge_after"], name="act_by_purge"),
                    models.Index(fields=["lake", "dropped_at"], name="act_by_drop"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("run_id", "db", "table", "batch"), name="act_one_row_a_batch"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="BackupTotals",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("lake", models.CharField(max_length=32)),
                ("day", models.DateField()),
                ("db", models.CharField(blank=True, max_length=128)),
                ("table", models.CharField(blank=True, max_length=128)),
                ("table_owner", models.CharField(blank=True, max_length=150)),
                ("n_tables", models.PositiveIntegerField(default=0)),
                ("n_batches", models.PositiveIntegerField(default=0)),
                ("n_items", models.PositiveBigIntegerField(default=0)),
                ("n_restored", models.PositiveBigIntegerField(default=0)),
                ("n_bytes", models.BigIntegerField(default=0)),
                ("restored_bytes", models.BigIntegerField(default=0)),
                (
                    "purged_bytes",
                    models.BigIntegerField(default=0, help_text="deleted permanently"),
                ),
                ("n_files", models.PositiveBigIntegerField(default=0)),
                (
                    "n_restorable",
                    models.PositiveIntegerField(default=0, help_text="batches that can come back"),
                ),
                ("restorable_items", models.PositiveBigIntegerField(default=0)),
                ("restorable_bytes", models.BigIntegerField(default=0)),
                (
                    "n_left",
                    models.PositiveIntegerField(default=0, help_text="batches a purge skipped"),
                ),
                ("n_purging", models.PositiveIntegerField(default=0)),
                ("n_purged", models.PositiveIntegerField(default=0)),
                (
                    "purge_after",
                    models.DateTimeField(help_text="the first of what can come back", null=True),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["lake", "db", "day"], name="act_totals_by_db"),
                    models.Index(fields=["lake", "table_owner", "day"], name="act_totals_by_owner"),
                    models.Index(fields=["lake", "purge_after"], name="act_totals_by_purge"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("lake", "day", "db", "table", "table_owner"), name="act_totals_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="BackupProbe",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "batch",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="probes",
                        to="act.backupbatch",
                    ),
                ),
                (
                    "delay_seconds",
                    models.IntegerField(help_text="after the drop; -1 = right before purge"),
                ),
                ("due_at", models.DateTimeField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("DUE", "due"),
                            ("CLEAN", "clean"),
                            ("LATE_COMMIT", "late commit"),
                            ("DAMAGED", "damaged"),
                        ],
                        default="DUE",
                        max_length=16,
                    ),
                ),
                ("run_id", models.UUIDField(null=True)),
                ("done_at", models.DateTimeField(null=True)),
                ("n_late", models.PositiveIntegerField(default=0)),
                ("n_damaged", models.PositiveIntegerField(default=0)),
                ("details", models.JSONField(default=list)),
            ],
            options={
                "indexes": [models.Index(fields=["state", "due_at"], name="act_probe_due")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("batch", "delay_seconds"), name="act_one_probe_a_delay"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ActFence",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("run_id", models.UUIDField()),
                ("epoch", models.PositiveIntegerField()),
                ("lake", models.CharField(max_length=32)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("DROP", "drop"),
                            ("RESTORE", "restore"),
                            ("PURGE", "purge"),
                            ("MOVE", "move"),
                        ],
                        max_length=8,
                    ),
                ),
                ("root", models.CharField(max_length=1000)),
                ("day", models.DateField()),
                (
                    "claims",
                    models.JSONField(
                        default=list,
                        help_text="backups asked for: [{run, epoch}], `purged` once that is proven",
                    ),
                ),
                ("opened_at", models.DateTimeField()),
                ("lease_until", models.DateTimeField()),
                ("closed_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [models.Index(fields=["run_id", "closed_at"], name="act_fence_open")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("run_id", "epoch", "root", "day"), name="act_one_fence_a_day"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Savings",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("lake", models.CharField(max_length=32)),
                ("month", models.DateField(help_text="its first day, or EVER")),
                ("db", models.CharField(blank=True, max_length=128)),
                ("table_owner", models.CharField(blank=True, max_length=150)),
                ("n_dropped", models.PositiveBigIntegerField(default=0)),
                ("n_restored", models.PositiveBigIntegerField(default=0)),
                ("dropped_bytes", models.BigIntegerField(default=0)),
                ("restored_bytes", models.BigIntegerField(default=0)),
                ("purged_bytes", models.BigIntegerField(default=0, help_text="freed for good")),
                (
                    "waiting_bytes",
                    models.BigIntegerField(default=0, help_text="in a backup: freed by its purge"),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["lake", "month", "-purged_bytes", "id"], name="act_savings_freed"
                    ),
                    models.Index(
                        fields=["lake", "month", "table_owner"], name="act_savings_by_owner"
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("lake", "month", "db", "table_owner"), name="act_savings_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Hold",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("public_id", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("lake", models.CharField(max_length=32)),
                ("db", models.CharField(max_length=128)),
                (
                    "table",
                    models.CharField(blank=True, help_text="empty = the database", max_length=128),
                ),
                (
                    "partition",
                    models.CharField(blank=True, help_text="empty = all", max_length=767),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("RESTORE", "restore"),
                            ("LEGAL", "legal"),
                            ("EXTENSION", "extension"),
                        ],
                        max_length=16,
                    ),
                ),
                ("until", models.DateTimeField(help_text="empty = until released", null=True)),
                ("reason", models.TextField()),
                ("placed_by", models.CharField(max_length=150)),
                ("placed_at", models.DateTimeField()),
                ("released_by", models.CharField(blank=True, max_length=150)),
                ("released_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["lake", "released_at", "db", "table"], name="act_holds_active"
                    ),
                    models.Index(
                        fields=["lake", "released_at", "placed_at"], name="act_holds_by_time"
                    ),
                    models.Index(fields=["lake", "placed_by"], name="act_holds_by_person"),
                ],
            },
        ),
    ]
