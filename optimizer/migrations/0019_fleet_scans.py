import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("optimizer", "0013_advice_subject"),
    ]

    operations = [
        migrations.CreateModel(
            name="QuerySeconds",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("lake", models.CharField(max_length=64)),
                ("engine", models.CharField(max_length=16)),
                ("day", models.DateField(help_text="in UTC, when the event came")),
                (
                    "counts",
                    models.JSONField(
                        default=dict, help_text="bucket (queries.domain.latency) -> queries"
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "query seconds",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("lake", "engine", "day"), name="optimizer_query_seconds_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ScanDay",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("lake", models.CharField(max_length=64)),
                ("day", models.DateField(help_text="in UTC, when the report came")),
                ("slot", models.PositiveSmallIntegerField()),
                ("n_scans", models.BigIntegerField(default=0)),
                ("n_files", models.BigIntegerField(default=0, help_text="data files left to read")),
                (
                    "n_bytes",
                    models.BigIntegerField(default=0, help_text="bytes of the files left to read"),
                ),
                (
                    "n_skipped",
                    models.BigIntegerField(default=0, help_text="data files left out by planning"),
                ),
                (
                    "skipped_bytes",
                    models.BigIntegerField(
                        default=0,
                        help_text="of them, estimated: times the mean size of the table's files",
                    ),
                ),
                (
                    "n_unsized",
                    models.BigIntegerField(
                        default=0,
                        help_text="of them, files of tables whose size was not known: in no bytes",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("lake", "day", "slot"), name="optimizer_scan_day_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="SkippedDay",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("lake", models.CharField(max_length=64)),
                ("day", models.DateField(help_text="in UTC, when the report came")),
                (
                    "cause",
                    models.CharField(help_text="a kind of index, or cubes", max_length=16),
                ),
                ("slot", models.PositiveSmallIntegerField()),
                ("n_times", models.BigIntegerField(default=0, help_text="plans, or queries")),
                (
                    "n_files",
                    models.BigIntegerField(default=0, help_text="data files dropped; 0 for cubes"),
                ),
                (
                    "n_bytes",
                    models.BigIntegerField(default=0, help_text="bytes not read because of it"),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("lake", "day", "cause", "slot"), name="optimizer_skipped_day_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="UnservedShape",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "filters",
                    models.JSONField(
                        default=list, help_text="[column, kind] in order; empty: no filter"
                    ),
                ),
                ("n_scans", models.BigIntegerField()),
                ("n_bytes", models.BigIntegerField(help_text="planned by them in the week")),
                ("looked_at", models.DateTimeField()),
                (
                    "table",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="unserved",
                        to="optimizer.icebergtable",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["-n_bytes"], name="optimizer_unserved_most"),
                ],
            },
        ),
        migrations.AddIndex(
            model_name="scanfilter",
            index=models.Index(fields=["column", "day"], name="optimizer_scans_by_day"),
        ),
    ]
