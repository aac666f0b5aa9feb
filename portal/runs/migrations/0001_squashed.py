"""The tables of the app `runs`, in place of the steps that made them (ADR 0035)."""

import uuid

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("runs", "0001_initial"),
        ("runs", "0002_queue_and_person"),
        ("runs", "0003_silence"),
        ("runs", "0004_result_files"),
        ("runs", "0005_plain_field_names"),
    ]

    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Run",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("lake", models.CharField(max_length=32)),
                ("kind", models.CharField(max_length=64)),
                ("queue", models.CharField(default="default", max_length=16)),
                ("state", models.CharField(default="QUEUED", max_length=16)),
                ("epoch", models.PositiveIntegerField(default=0)),
                ("requested_by", models.CharField(max_length=150)),
                ("reason", models.TextField(blank=True, default="")),
                ("params", models.JSONField(default=dict)),
                ("unique_key", models.CharField(max_length=200, null=True, unique=True)),
                ("subject_type", models.CharField(blank=True, default="", max_length=64)),
                ("subject_id", models.CharField(blank=True, default="", max_length=300)),
                ("tag", models.CharField(blank=True, default="", max_length=64)),
                ("host", models.CharField(blank=True, default="", max_length=255)),
                ("pid", models.BigIntegerField(null=True)),
                ("pid_started", models.FloatField(null=True)),
                ("pgid", models.BigIntegerField(null=True)),
                ("spool", models.CharField(blank=True, default="", max_length=1000)),
                ("lease_owner", models.CharField(blank=True, default="", max_length=255)),
                ("lease_until", models.DateTimeField(null=True)),
                ("queued_at", models.DateTimeField()),
                ("last_published_at", models.DateTimeField(null=True)),
                ("n_messages", models.PositiveIntegerField(default=0)),
                ("claimed_at", models.DateTimeField(null=True)),
                ("submitted_at", models.DateTimeField(null=True)),
                ("settling_at", models.DateTimeField(null=True)),
                ("n_settles", models.PositiveIntegerField(default=0)),
                ("finished_at", models.DateTimeField(null=True)),
                ("silent_since", models.DateTimeField(null=True)),
                ("silence", models.JSONField(null=True)),
                ("phase", models.CharField(blank=True, default="", max_length=64)),
                ("done", models.BigIntegerField(default=0)),
                ("total", models.BigIntegerField(default=0)),
                ("message", models.CharField(blank=True, default="", max_length=500)),
                ("progress_n", models.IntegerField(default=0)),
                ("error", models.JSONField(null=True)),
                ("result", models.JSONField(null=True)),
                ("results_removed_at", models.DateTimeField(null=True)),
                ("cancel_requested_by", models.CharField(blank=True, default="", max_length=150)),
                ("cancel_requested_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["lake", "queued_at", "id"], name="runs_by_time"),
                    models.Index(fields=["lake", "kind", "queued_at", "id"], name="runs_by_kind"),
                    models.Index(fields=["lake", "queue", "queued_at"], name="runs_by_queue"),
                    models.Index(
                        fields=["lake", "requested_by", "queued_at", "id"], name="runs_by_person"
                    ),
                    models.Index(fields=["state", "lease_until"], name="runs_by_lease"),
                    models.Index(
                        fields=["lake", "kind", "results_removed_at", "finished_at"],
                        name="runs_by_results",
                    ),
                    models.Index(
                        fields=["lake", "subject_type", "subject_id"], name="runs_by_subject"
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    "QUEUED",
                                    "CLAIMED",
                                    "SUBMITTING",
                                    "RUNNING",
                                    "SETTLING",
                                    "DONE",
                                    "FAILED",
                                    "CANCELLED",
                                ],
                            )
                        ),
                        name="runs_known_state",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="RunEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="events",
                        to="runs.run",
                    ),
                ),
                ("seq", models.PositiveIntegerField()),
                ("at", models.DateTimeField()),
                ("level", models.CharField(max_length=8)),
                ("text", models.TextField()),
            ],
            options={
                "ordering": ["run", "seq"],
                "constraints": [
                    models.UniqueConstraint(fields=("run", "seq"), name="runs_event_order")
                ],
            },
        ),
        migrations.CreateModel(
            name="Outbox",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("topic", models.CharField(max_length=16)),
                ("row_id", models.CharField(max_length=64)),
                ("queue", models.CharField(max_length=16)),
                ("created_at", models.DateTimeField()),
                ("not_before", models.DateTimeField()),
                ("published_at", models.DateTimeField(null=True)),
                ("n_attempts", models.PositiveIntegerField(default=0)),
                ("error", models.CharField(blank=True, default="", max_length=500)),
            ],
            options={
                "verbose_name_plural": "outbox",
                "indexes": [
                    models.Index(fields=["published_at", "not_before"], name="runs_outbox_due")
                ],
            },
        ),
        migrations.CreateModel(
            name="Lease",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=100, unique=True)),
                ("holder", models.CharField(max_length=255)),
                ("epoch", models.PositiveIntegerField(default=1)),
                ("until", models.DateTimeField()),
            ],
        ),
    ]
