import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("optimizer", "0014_query_groupings"),
    ]

    operations = [
        migrations.AddField(
            model_name="queryday",
            name="n_not_kept",
            field=models.BigIntegerField(
                default=0, help_text="queries for which there was no room on the portal's disk"
            ),
        ),
        migrations.CreateModel(
            name="TopShape",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("lake", models.CharField(max_length=64)),
                ("digest", models.CharField(max_length=32)),
                ("engine", models.CharField(max_length=16)),
                ("text", models.TextField(blank=True, help_text="without constants")),
                (
                    "is_parsed",
                    models.BooleanField(help_text="false: only its words were read"),
                ),
                (
                    "names_all_tables",
                    models.BooleanField(
                        help_text="whether all that it reads is known; else admins and operators "
                        "alone see it"
                    ),
                ),
                ("n_queries", models.BigIntegerField()),
                ("n_failed", models.BigIntegerField()),
                ("seconds", models.FloatField(help_text="of all its queries together")),
                ("seconds_lately", models.FloatField(help_text="in the last 14 days")),
                ("seconds_before", models.FloatField(help_text="in the 14 days before them")),
                (
                    "p50",
                    models.FloatField(
                        help_text="seconds of the middle one of its queries", null=True
                    ),
                ),
                (
                    "p95",
                    models.FloatField(
                        help_text="seconds that 95 of 100 of its queries took", null=True
                    ),
                ),
                (
                    "n_bytes",
                    models.BigIntegerField(help_text="read by all its queries together"),
                ),
                (
                    "share",
                    models.FloatField(
                        help_text="rows that were read, of those of its tables", null=True
                    ),
                ),
                (
                    "is_helped",
                    models.BooleanField(
                        help_text="false: nothing narrows what it reads", null=True
                    ),
                ),
                (
                    "days",
                    models.JSONField(default=list, help_text="queries, seconds and bytes by day"),
                ),
                ("last_at", models.DateTimeField()),
                ("analysed_at", models.DateTimeField()),
            ],
            options={
                "indexes": [
                    models.Index(fields=["lake", "seconds"], name="optimizer_shape_seconds"),
                    models.Index(fields=["lake", "n_queries"], name="optimizer_shape_queries"),
                    models.Index(fields=["lake", "n_bytes"], name="optimizer_shape_bytes"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("lake", "digest"), name="optimizer_top_shape_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="TopShapeTable",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("db", models.CharField(max_length=128)),
                ("table", models.CharField(max_length=512)),
                (
                    "shape",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tables",
                        to="optimizer.topshape",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("shape", "db", "table"), name="optimizer_shape_table_once"
                    )
                ],
            },
        ),
    ]
