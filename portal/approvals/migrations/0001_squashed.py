"""The tables of the app `approvals`, in place of the steps that made them (ADR 0035)."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [("approvals", "0001_initial"), ("approvals", "0002_plain_field_names")]

    initial = True

    dependencies = [
        ("access", "__first__"),
    ]

    operations = [
        migrations.CreateModel(
            name="Approval",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("lake", models.CharField(max_length=32)),
                ("kind", models.CharField(max_length=64)),
                ("object_id", models.CharField(max_length=300)),
                ("digest", models.CharField(max_length=64)),
                ("state", models.CharField(default="PENDING", max_length=16)),
                ("requesters", models.JSONField(default=list)),
                ("n_needed", models.PositiveSmallIntegerField(default=2)),
                ("summary", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("approved_at", models.DateTimeField(null=True)),
                ("cool_until", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("end_reason", models.TextField(blank=True, default="")),
                ("used_by_run", models.CharField(blank=True, default="", max_length=36)),
                ("open_key", models.CharField(max_length=370, null=True, unique=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["lake", "state", "created_at"], name="approvals_by_state"),
                    models.Index(fields=["kind", "object_id"], name="approvals_by_object"),
                    models.Index(fields=["state", "expires_at"], name="approvals_by_lapse"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                ["PENDING", "APPROVED", "REJECTED", "LAPSED", "WITHDRAWN", "USED"],
                            )
                        ),
                        name="approvals_known_state",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Decision",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "approval",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="decisions",
                        to="approvals.approval",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="decisions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("verdict", models.CharField(max_length=8)),
                ("reason", models.TextField(blank=True, default="")),
                ("digest", models.CharField(max_length=64)),
                ("authenticated_at", models.DateTimeField()),
                ("at", models.DateTimeField()),
            ],
            options={
                "ordering": ["at"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("approval", "user"), name="approvals_one_word_each"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("verdict__in", ["APPROVE", "REJECT"])),
                        name="approvals_known_verdict",
                    ),
                ],
            },
        ),
    ]
