"""The tables of the app `notices`, in place of the steps that made them (ADR 0035)."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("notices", "0001_initial"),
        ("notices", "0002_repeats"),
        ("notices", "0003_calendar"),
        ("notices", "0004_repeats_index"),
        ("notices", "0005_by_state"),
    ]

    initial = True

    dependencies = [
        ("access", "__first__"),
    ]

    operations = [
        migrations.CreateModel(
            name="Notice",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("lake", models.CharField(max_length=32)),
                ("kind", models.CharField(max_length=64)),
                ("day", models.DateField()),
                ("recipient", models.CharField(max_length=150)),
                ("email", models.CharField(blank=True, default="", max_length=254)),
                ("subject", models.CharField(max_length=250)),
                ("text", models.TextField()),
                ("html", models.TextField(blank=True, default="")),
                ("message_id", models.CharField(max_length=120, unique=True)),
                ("state", models.CharField(default="QUEUED", max_length=8)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("queued_at", models.DateTimeField()),
                ("claimed_at", models.DateTimeField(null=True)),
                ("not_before", models.DateTimeField()),
                ("sent_at", models.DateTimeField(null=True)),
                ("sent_on", models.DateField(null=True)),
                ("error", models.CharField(blank=True, default="", max_length=500)),
                (
                    "n_repeats",
                    models.PositiveSmallIntegerField(
                        default=0,
                        help_text="How often it was sent again although the server may have taken it before.",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["state", "not_before"], name="notices_due"),
                    models.Index(fields=["lake", "recipient", "day"], name="notices_by_person"),
                    models.Index(fields=["lake", "queued_at", "id"], name="notices_by_time"),
                    models.Index(fields=["lake", "n_repeats"], name="notices_by_repeats"),
                    models.Index(fields=["lake", "state"], name="notices_by_state"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("lake", "kind", "day", "recipient"), name="notices_once_a_day"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["QUEUED", "SENDING", "SENT", "FAILED"])),
                        name="notices_known_state",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="CalendarAddress",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("secret_sha256", models.CharField(max_length=64, unique=True)),
                ("made_at", models.DateTimeField()),
            ],
        ),
    ]
