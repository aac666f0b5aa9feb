import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("optimizer", "0017_dropped_queries"),
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
        ),
        migrations.CreateModel(
            name="TrinoQueryTable",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("lake", models.CharField(max_length=64)),
                (
                    "positions",
                    models.JSONField(
                        default=dict, help_text="minutes after which it is looked -> the last id"
                    ),
                ),
                ("n_rows", models.BigIntegerField(default=0, help_text="queries taken from it")),
                (
                    "n_odd",
                    models.BigIntegerField(default=0, help_text="rows whose id is none of Trino's"),
                ),
                (
                    "read_at",
                    models.DateTimeField(help_text="when it was last read", null=True),
                ),
                (
                    "problem",
                    models.CharField(
                        blank=True,
                        help_text="why it cannot be read; empty: it can",
                        max_length=1000,
                    ),
                ),
                ("failing_since", models.DateTimeField(null=True)),
                (
                    "n_failures",
                    models.PositiveIntegerField(default=0, help_text="one after the other"),
                ),
                (
                    "next_at",
                    models.DateTimeField(help_text="when it is tried again", null=True),
                ),
                (
                    "left_out_from",
                    models.DateTimeField(
                        help_text="queries that began from then on were not read: it was too late",
                        null=True,
                    ),
                ),
                ("left_out_until", models.DateTimeField(null=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("lake",), name="optimizer_trino_table_once")
                ],
            },
        ),
        migrations.AddIndex(
            model_name="scanfilter",
            index=models.Index(fields=["column", "day"], name="optimizer_scans_by_day"),
        ),
    ]
