import django.db.models.deletion
from django.db import migrations, models

STATES = [
    ("RUNNING", "RUNNING"),
    ("KEEP", "KEEP"),
    ("ROLL_BACK", "ROLL_BACK"),
    ("UNSURE", "UNSURE"),
    ("FAILED", "FAILED"),
]


class Migration(migrations.Migration):
    dependencies = [
        ("optimizer", "0015_kept_queries"),
    ]

    operations = [
        migrations.AddField(
            model_name="advice",
            name="trial_state",
            field=models.CharField(
                blank=True,
                choices=STATES,
                default="",
                help_text="of its last trial on a branch: under way, or what it showed",
                max_length=16,
            ),
            preserve_default=False,
        ),
        migrations.CreateModel(
            name="Trial",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("state", models.CharField(choices=STATES, default="RUNNING", max_length=16)),
                ("is_open", models.BooleanField(default=True, null=True)),
                ("run", models.UUIDField(null=True)),
                ("requested_by", models.CharField(max_length=150)),
                ("requested_at", models.DateTimeField()),
                ("reason", models.TextField(help_text="of the request")),
                ("ended_at", models.DateTimeField(null=True)),
                ("seconds", models.FloatField(null=True)),
                ("bytes_written", models.BigIntegerField(help_text="to the branch", null=True)),
                ("saved", models.FloatField(null=True)),
                (
                    "low",
                    models.FloatField(help_text="null: too few queries to tell", null=True),
                ),
                ("high", models.FloatField(null=True)),
                ("n_queries", models.PositiveIntegerField(null=True)),
                (
                    "n_worse",
                    models.PositiveIntegerField(help_text="queries that plan more", null=True),
                ),
                (
                    "outcome",
                    models.TextField(
                        blank=True, help_text="in words: what it showed, or why it failed"
                    ),
                ),
                (
                    "evidence",
                    models.JSONField(
                        default=dict, help_text="partitions, shapes, the limit, the base"
                    ),
                ),
                ("branch", models.CharField(blank=True, max_length=128)),
                (
                    "cleaned_at",
                    models.DateTimeField(
                        help_text="when branch and files were gone again", null=True
                    ),
                ),
                (
                    "clean_after",
                    models.DateTimeField(help_text="when that is tried again", null=True),
                ),
                (
                    "cleanup",
                    models.TextField(blank=True, help_text="what is left of it, and why"),
                ),
                (
                    "advice",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="trials",
                        to="optimizer.advice",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["cleaned_at", "is_open"], name="optimizer_trial_left"),
                    models.Index(fields=["run"], name="optimizer_trial_run"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("advice", "is_open"), name="optimizer_trial_open_once"
                    )
                ],
            },
        ),
    ]
