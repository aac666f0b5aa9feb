"""The tables of the app `people`, in place of the steps that made them (ADR 0035)."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("people", "0001_first"),
        ("people", "0002_leavers_and_owners"),
        ("people", "0003_api_tokens"),
        ("people", "0004_plain_model_names"),
    ]

    initial = True

    dependencies = [
        ("access", "__first__"),
    ]

    operations = [
        migrations.CreateModel(
            name="SignInIdentity",
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
                        related_name="sign_in_identity",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("way", models.CharField(max_length=8)),
                ("subject", models.CharField(max_length=300)),
                ("first_at", models.DateTimeField()),
                ("last_at", models.DateTimeField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("way", "subject"), name="people_one_subject"),
                    models.CheckConstraint(
                        condition=models.Q(("way__in", ["oidc", "ldap"])), name="people_known_way"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="LoginAttempts",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("counted", models.CharField(max_length=8)),
                ("key", models.CharField(max_length=64)),
                ("n_failed", models.PositiveIntegerField(default=0)),
                ("last_at", models.DateTimeField(null=True)),
                ("locked_until", models.DateTimeField(null=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("counted", "key"), name="people_one_tally"),
                    models.CheckConstraint(
                        condition=models.Q(("counted__in", ["NAME", "ADDRESS", "AGAIN"])),
                        name="people_known_count",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DirectoryPerson",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("username", models.CharField(max_length=150, unique=True)),
                ("seen_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Deactivation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("username", models.CharField(max_length=150, unique=True)),
                ("at", models.DateTimeField()),
                ("by", models.CharField(max_length=150)),
                ("reason", models.CharField(max_length=300)),
            ],
        ),
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("public_id", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("name", models.CharField(max_length=80)),
                ("digest", models.CharField(max_length=64, unique=True)),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="api_tokens",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("scopes", models.JSONField(default=list)),
                ("made_by", models.CharField(max_length=150)),
                ("made_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("last_used_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("ended_by", models.CharField(blank=True, default="", max_length=150)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["owner", "made_at"], name="people_token_by_owner"),
                    models.Index(fields=["made_at"], name="people_token_by_age"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("expires_at__gt", models.F("made_at"))),
                        name="people_token_has_a_life",
                    )
                ],
            },
        ),
    ]
