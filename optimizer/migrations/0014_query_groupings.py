import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("optimizer", "0013_advice_subject"),
    ]

    operations = [
        migrations.AddField(
            model_name="queryday",
            name="n_unparsed",
            field=models.BigIntegerField(
                default=0,
                help_text="queries of whose text groups and aggregates could not be read",
            ),
        ),
        migrations.AddField(
            model_name="queryday",
            name="unparsed",
            field=models.CharField(
                blank=True, help_text="why, of the last such one", max_length=1000
            ),
        ),
        migrations.AlterField(
            model_name="advice",
            name="evidence",
            field=models.JSONField(
                help_text="shapes of filters or groupings, what was tried, the sample"
            ),
        ),
        migrations.AlterField(
            model_name="advice",
            name="proposed",
            field=models.CharField(
                help_text="to what, such as hilbert(a,b), or columns: id, user_id:bloom; or a cube",
                max_length=2200,
            ),
        ),
        migrations.AlterField(
            model_name="advice",
            name="subject",
            field=models.CharField(
                choices=[
                    ("layout", "layout"),
                    ("index_columns", "index_columns"),
                    ("cube", "cube"),
                ],
                default="layout",
                help_text="the field of the policy that it would set, or `cube`",
                max_length=16,
            ),
        ),
        migrations.CreateModel(
            name="QueryGrouping",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "digest",
                    models.CharField(blank=True, help_text="of all that follows", max_length=32),
                ),
                (
                    "dimensions",
                    models.JSONField(
                        default=list,
                        help_text="columns, those of joined tables with the keys that lead to them",
                    ),
                ),
                (
                    "measures",
                    models.JSONField(default=list, help_text="function(column), in order"),
                ),
                (
                    "joins",
                    models.JSONField(default=list, help_text="keys that lead to each joined table"),
                ),
                (
                    "refused",
                    models.CharField(
                        blank=True,
                        help_text="why no cube could answer it; empty where one could",
                        max_length=200,
                    ),
                ),
                ("day", models.DateField(help_text="in UTC, when the query was told of")),
                ("n_queries", models.BigIntegerField(default=0)),
                (
                    "n_bytes",
                    models.BigIntegerField(
                        default=0, help_text="of the table, as its scans count them"
                    ),
                ),
                (
                    "seconds",
                    models.FloatField(
                        default=0, help_text="of the whole queries, where they are known"
                    ),
                ),
                ("last_at", models.DateTimeField()),
                (
                    "shape",
                    models.TextField(
                        blank=True, help_text="of one such query, without its constants"
                    ),
                ),
                (
                    "tables",
                    models.JSONField(
                        default=list, help_text="all that the shape names, as db.table"
                    ),
                ),
                (
                    "table",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="groupings",
                        to="optimizer.icebergtable",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("table", "day", "digest"), name="optimizer_grouping_once"
                    )
                ],
            },
        ),
    ]
