"""Orphan files that were moved aside, and tables with files outside of their own places."""

import uuid

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("optimizer", "0013_hudi_resident"),
    ]

    operations = [
        migrations.AddField(
            model_name="icebergtable",
            name="uses_outside",
            field=models.BooleanField(
                default=False,
                help_text="a look found files outside of its own places: another table's, perhaps",
            ),
        ),
        migrations.CreateModel(
            name="Quarantine",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("directory", models.TextField(help_text="below the table's place")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("HELD", "HELD"),
                            ("RETURNING", "RETURNING"),
                            ("RETURNED", "RETURNED"),
                            ("DELETING", "DELETING"),
                            ("DELETED", "DELETED"),
                        ],
                        default="HELD",
                        max_length=12,
                    ),
                ),
                ("n_files", models.BigIntegerField(help_text="that lie there now")),
                ("n_bytes", models.BigIntegerField()),
                ("moved_at", models.DateTimeField()),
                (
                    "delete_after",
                    models.DateTimeField(help_text="its days are those of the approved list"),
                ),
                (
                    "run",
                    models.UUIDField(
                        help_text="the run that returns or deletes, or last did", null=True
                    ),
                ),
                (
                    "tried_at",
                    models.DateTimeField(help_text="when a run last tried to delete", null=True),
                ),
                (
                    "reason",
                    models.TextField(blank=True, help_text="why some of it was left, in words"),
                ),
                ("ended_at", models.DateTimeField(null=True)),
                ("ended_by", models.CharField(blank=True, max_length=150)),
                (
                    "plan",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="quarantine",
                        to="optimizer.removalplan",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["state", "delete_after"], name="optimizer_quarantine_due")
                ],
            },
        ),
    ]
