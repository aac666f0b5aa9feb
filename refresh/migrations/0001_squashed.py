"""The tables of the app `refresh`, in place of the steps that made them (ADR 0035)."""

import uuid

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("refresh", "0001_first"),
        ("refresh", "0002_queue"),
        ("refresh", "0003_sweep"),
        ("refresh", "0004_giants"),
        ("refresh", "0005_cluster_version"),
        ("refresh", "0006_told"),
        ("refresh", "0007_asked"),
        ("refresh", "0008_unready"),
        ("refresh", "0009_starrocks_review"),
        ("refresh", "0010_table_discovery"),
        ("refresh", "0011_judged_states"),
        ("refresh", "0012_retry_given_up"),
        ("refresh", "0013_plain_words"),
        ("refresh", "0014_plain_model_names"),
        ("refresh", "0015_plain_field_names"),
        ("refresh", "0016_needs_refresh"),
    ]

    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Cluster",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=32, unique=True)),
                (
                    "addresses",
                    models.JSONField(help_text='["host:port"] of front ends to ask first'),
                ),
                ("user", models.CharField(max_length=128)),
                ("password_file", models.CharField(max_length=1024)),
                ("per_fe", models.PositiveSmallIntegerField(default=4)),
                ("per_catalog", models.PositiveSmallIntegerField(default=6)),
                (
                    "large_table_window",
                    models.CharField(
                        blank=True,
                        help_text="when very large tables may start where one lock covers all (2.x), in UTC; empty: always",
                        max_length=200,
                    ),
                ),
                ("is_paused", models.BooleanField(default=False)),
                ("paused_by", models.CharField(blank=True, max_length=150)),
                ("paused_at", models.DateTimeField(null=True)),
                ("paused_reason", models.TextField(blank=True)),
                (
                    "pressure",
                    models.CharField(
                        choices=[("NONE", "NONE"), ("HIGH", "HIGH"), ("FULL", "FULL")],
                        default="NONE",
                        max_length=8,
                    ),
                ),
                (
                    "read_at",
                    models.DateTimeField(
                        help_text="when its front ends were last listed", null=True
                    ),
                ),
                (
                    "names_read_at",
                    models.DateTimeField(help_text="when its names were last read", null=True),
                ),
                (
                    "read_requested_at",
                    models.DateTimeField(
                        help_text="when somebody last asked to have it read; null: it was since",
                        null=True,
                    ),
                ),
                (
                    "problem",
                    models.TextField(
                        blank=True, help_text="why it could not be read; empty: it could"
                    ),
                ),
                (
                    "judged_states",
                    models.JSONField(
                        default=dict,
                        help_text="states of the front ends by which all tables were last judged",
                    ),
                ),
                (
                    "named_after",
                    models.CharField(
                        blank=True,
                        help_text="the last database whose tables were listed",
                        max_length=300,
                    ),
                ),
                (
                    "named_at",
                    models.DateTimeField(
                        help_text="when the tables of all its databases were last listed", null=True
                    ),
                ),
                (
                    "swept_after",
                    models.BigIntegerField(
                        default=0,
                        help_text="key of the last table at rest whose files were inspected",
                    ),
                ),
                ("added_by", models.CharField(max_length=150)),
                ("added_at", models.DateTimeField()),
                (
                    "version",
                    models.PositiveIntegerField(
                        default=0, help_text="how often its login was changed"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ClusterFrontEnd",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="front_ends",
                        to="refresh.cluster",
                    ),
                ),
                ("name", models.CharField(max_length=256)),
                ("host", models.CharField(max_length=256)),
                ("query_port", models.PositiveIntegerField()),
                ("is_alive", models.BooleanField(help_text="as the leader says")),
                ("is_leader", models.BooleanField()),
                ("error", models.TextField(blank=True)),
                ("start", models.CharField(blank=True, max_length=64)),
                ("version", models.CharField(blank=True, max_length=128)),
                ("listed_at", models.DateTimeField()),
                ("seen_start", models.CharField(blank=True, max_length=64)),
                ("seen_start_at", models.DateTimeField(null=True)),
                (
                    "contact",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("ANSWERED", "ANSWERED"),
                            ("REFUSED", "REFUSED"),
                            ("TIMED_OUT", "TIMED_OUT"),
                        ],
                        max_length=12,
                    ),
                ),
                ("contact_at", models.DateTimeField(null=True)),
                ("empty_after", models.DateTimeField(null=True)),
                ("n_failed", models.PositiveIntegerField(default=0)),
                ("n_opened", models.PositiveIntegerField(default=0)),
                ("open_until", models.DateTimeField(null=True)),
                ("trial_until", models.DateTimeField(null=True)),
                ("config", models.JSONField(default=dict)),
                ("config_at", models.DateTimeField(null=True)),
                (
                    "config_start",
                    models.CharField(
                        blank=True, help_text="its start when its settings were read", max_length=64
                    ),
                ),
                (
                    "unstarted_at",
                    models.DateTimeField(
                        help_text="when it was last listed as not started; null: it has answered since",
                        null=True,
                    ),
                ),
                (
                    "silent_at",
                    models.DateTimeField(
                        help_text="when it last refused a contact or left one unanswered", null=True
                    ),
                ),
                (
                    "login_refused",
                    models.TextField(
                        blank=True, help_text="why it refused our login; empty: it did not"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("cluster", "name"), name="refresh_fe_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="ClusterCatalog",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="catalogs",
                        to="refresh.cluster",
                    ),
                ),
                ("name", models.CharField(max_length=128)),
                ("uris", models.TextField()),
                ("lake", models.CharField(blank=True, max_length=32)),
            ],
            options={
                "indexes": [models.Index(fields=["lake"], name="refresh_catalog_lake")],
                "constraints": [
                    models.UniqueConstraint(fields=("cluster", "name"), name="refresh_catalog_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="DeclaredTable",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="declared",
                        to="refresh.cluster",
                    ),
                ),
                ("db", models.CharField(max_length=256)),
                ("table", models.CharField(max_length=256)),
                ("resource", models.CharField(max_length=256)),
                ("lake", models.CharField(blank=True, max_length=32)),
                ("hive_db", models.CharField(max_length=128)),
                ("hive_table", models.CharField(max_length=256)),
                (
                    "columns",
                    models.JSONField(
                        default=list, help_text="[name, type] as declared in StarRocks"
                    ),
                ),
                (
                    "drift",
                    models.TextField(blank=True, help_text="how its columns differ from Hive's"),
                ),
                (
                    "drift_at",
                    models.DateTimeField(help_text="when they were last compared", null=True),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["lake", "hive_db", "hive_table"], name="refresh_declared_hive"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("cluster", "db", "table"), name="refresh_declared_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="MetastoreLoad",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("lake", models.CharField(max_length=32, unique=True)),
                ("n_failed", models.PositiveIntegerField(default=0)),
                ("n_opened", models.PositiveIntegerField(default=0)),
                ("open_until", models.DateTimeField(null=True)),
                ("trial_until", models.DateTimeField(null=True)),
                ("calls", models.FloatField()),
                ("calls_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="WatchedTable",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("lake", models.CharField(max_length=32)),
                ("db", models.CharField(max_length=128)),
                ("table", models.CharField(max_length=256)),
                ("owner", models.CharField(blank=True, max_length=128)),
                (
                    "tracked_since",
                    models.DateTimeField(help_text="every change since then is known"),
                ),
                (
                    "changed_at",
                    models.DateTimeField(help_text="the last change, as the portal received it"),
                ),
                (
                    "table_changed_at",
                    models.DateTimeField(
                        help_text="the last unsettled change of the table", null=True
                    ),
                ),
                (
                    "causes",
                    models.JSONField(default=list, help_text="who asked for what is not settled"),
                ),
                (
                    "is_deleted",
                    models.BooleanField(default=False, help_text="the metastore had it no more"),
                ),
                (
                    "is_partitioned",
                    models.BooleanField(help_text="null until it was checked", null=True),
                ),
                ("n_partitions", models.BigIntegerField(null=True)),
                ("inspected_at", models.DateTimeField(null=True)),
                (
                    "is_opted_out",
                    models.BooleanField(default=False, help_text="nobody refreshes it: opted out"),
                ),
                ("opted_out_by", models.CharField(blank=True, max_length=150)),
                ("opted_out_at", models.DateTimeField(null=True)),
                ("opted_out_reason", models.TextField(blank=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["lake", "changed_at"], name="refresh_watched_hot")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("lake", "db", "table"), name="refresh_watched_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ChangedPartition",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "table",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="changed",
                        to="refresh.watchedtable",
                    ),
                ),
                ("digest", models.CharField(help_text="sha256 of the name", max_length=64)),
                ("name", models.TextField()),
                ("at", models.DateTimeField()),
                (
                    "touch",
                    models.CharField(
                        choices=[
                            ("ADDED", "ADDED"),
                            ("UPDATED", "UPDATED"),
                            ("DROPPED", "DROPPED"),
                            ("UNREADY", "UNREADY"),
                        ],
                        max_length=8,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("table", "digest"), name="refresh_changed_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="RefreshTarget",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="targets",
                        to="refresh.cluster",
                    ),
                ),
                ("catalog", models.CharField(blank=True, max_length=128)),
                ("db", models.CharField(max_length=256)),
                ("table", models.CharField(max_length=256)),
                (
                    "watched",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="targets",
                        to="refresh.watchedtable",
                    ),
                ),
                (
                    "due_at",
                    models.DateTimeField(
                        help_text="when gathering ends; null: nothing waits", null=True
                    ),
                ),
                ("waits_since", models.DateTimeField(null=True)),
                ("is_urgent", models.BooleanField(default=False)),
                (
                    "lane",
                    models.PositiveSmallIntegerField(
                        choices=[(0, "FAST"), (1, "SLOW"), (2, "GIANT")], null=True
                    ),
                ),
                (
                    "steps",
                    models.JSONField(
                        help_text="planned statements; null: not planned yet", null=True
                    ),
                ),
                ("only_on", models.CharField(blank=True, max_length=256)),
                ("expected_seconds", models.FloatField(null=True)),
                (
                    "not_before",
                    models.DateTimeField(help_text="a retry waits until then", null=True),
                ),
                ("n_tries", models.PositiveIntegerField(default=0)),
                ("running_since", models.DateTimeField(null=True)),
                ("running_on", models.CharField(blank=True, max_length=256)),
                (
                    "epoch",
                    models.PositiveIntegerField(default=0, help_text="of the worker that sent it"),
                ),
                (
                    "outcome_unknown_kind",
                    models.CharField(
                        blank=True,
                        help_text="of a statement that may still run unheard",
                        max_length=12,
                    ),
                ),
                (
                    "outcome_unknown_until",
                    models.DateTimeField(help_text="when that one must have ended", null=True),
                ),
                (
                    "past",
                    models.JSONField(
                        default=dict, help_text="kind -> [[seconds, partitions]], newest last"
                    ),
                ),
                (
                    "freshness",
                    models.CharField(
                        choices=[
                            ("FRESH", "FRESH"),
                            ("STALE", "STALE"),
                            ("DIVERGED", "DIVERGED"),
                            ("COLD", "COLD"),
                            ("UNKNOWN", "UNKNOWN"),
                        ],
                        default="UNKNOWN",
                        max_length=8,
                    ),
                ),
                (
                    "danger",
                    models.CharField(
                        choices=[
                            ("WRONG", "WRONG"),
                            ("INCOMPLETE", "INCOMPLETE"),
                            ("NONE", "NONE"),
                            ("UNKNOWN", "UNKNOWN"),
                        ],
                        default="UNKNOWN",
                        max_length=12,
                    ),
                ),
                (
                    "rank",
                    models.PositiveSmallIntegerField(
                        default=0, help_text="what must be seen first is 0"
                    ),
                ),
                ("why", models.TextField(blank=True)),
                ("stale_since", models.DateTimeField(null=True)),
                (
                    "refreshed_at",
                    models.DateTimeField(help_text="when all that live had it all", null=True),
                ),
                ("problem", models.TextField(blank=True, help_text="the last error, short")),
            ],
            options={
                "indexes": [
                    models.Index(fields=["cluster", "due_at"], name="refresh_target_due"),
                    models.Index(
                        fields=["cluster", "lane", "is_urgent", "waits_since"],
                        name="refresh_target_lane",
                    ),
                    models.Index(
                        fields=["cluster", "running_since"], name="refresh_target_running"
                    ),
                    models.Index(fields=["rank", "id"], name="refresh_target_rank"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("cluster", "catalog", "db", "table"), name="refresh_target_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="TargetFrontEnd",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "target",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="on_fes",
                        to="refresh.refreshtarget",
                    ),
                ),
                (
                    "fe",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="refresh.clusterfrontend",
                    ),
                ),
                (
                    "done",
                    models.JSONField(
                        default=list, help_text="[began, ended, [partitions]], oldest first"
                    ),
                ),
                (
                    "done_at",
                    models.DateTimeField(help_text="when the last refresh there ended", null=True),
                ),
                (
                    "n_tries",
                    models.PositiveIntegerField(
                        default=0, help_text="failures since the last success"
                    ),
                ),
                ("problem", models.TextField(blank=True)),
                (
                    "needs_refresh",
                    models.BooleanField(
                        default=False,
                        help_text="a change was not taken in, whether it can be asked or not",
                    ),
                ),
                (
                    "freshness",
                    models.CharField(
                        choices=[
                            ("FRESH", "FRESH"),
                            ("STALE", "STALE"),
                            ("DIVERGED", "DIVERGED"),
                            ("COLD", "COLD"),
                            ("UNKNOWN", "UNKNOWN"),
                        ],
                        default="UNKNOWN",
                        max_length=8,
                    ),
                ),
                (
                    "danger",
                    models.CharField(
                        choices=[
                            ("WRONG", "WRONG"),
                            ("INCOMPLETE", "INCOMPLETE"),
                            ("NONE", "NONE"),
                            ("UNKNOWN", "UNKNOWN"),
                        ],
                        default="UNKNOWN",
                        max_length=12,
                    ),
                ),
                ("why", models.TextField(blank=True)),
                ("stale_since", models.DateTimeField(null=True)),
                ("probed_at", models.DateTimeField(null=True)),
                (
                    "probe_problem",
                    models.TextField(
                        blank=True, help_text="why the last probe could not ask it; empty: it could"
                    ),
                ),
                ("disproof_at", models.DateTimeField(null=True)),
                ("disproof_why", models.TextField(blank=True)),
                (
                    "divergence_notified_at",
                    models.DateTimeField(
                        help_text="when admins and operators were notified", null=True
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["fe", "needs_refresh"], name="refresh_on_fe_owes")
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("target", "fe"), name="refresh_on_fe_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Refresh",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("public_id", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="refresh.cluster",
                    ),
                ),
                (
                    "target",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="history",
                        to="refresh.refreshtarget",
                    ),
                ),
                (
                    "coordinator",
                    models.CharField(help_text="the front end that took it", max_length=256),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("TABLE", "TABLE"), ("PARTITIONS", "PARTITIONS")], max_length=12
                    ),
                ),
                ("n_partitions", models.PositiveIntegerField()),
                (
                    "examples",
                    models.JSONField(default=list, help_text="the first few partition names"),
                ),
                ("causes", models.JSONField(default=list)),
                (
                    "lane",
                    models.PositiveSmallIntegerField(
                        choices=[(0, "FAST"), (1, "SLOW"), (2, "GIANT")]
                    ),
                ),
                ("waited_since", models.DateTimeField()),
                ("began_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
                ("epoch", models.PositiveIntegerField()),
                (
                    "ending",
                    models.CharField(
                        choices=[
                            ("RUNNING", "RUNNING"),
                            ("DONE", "DONE"),
                            ("PARTIAL", "PARTIAL"),
                            ("FAILED", "FAILED"),
                            ("LOST", "LOST"),
                        ],
                        default="RUNNING",
                        max_length=8,
                    ),
                ),
                ("code", models.IntegerField(null=True)),
                ("said", models.TextField(blank=True, help_text="the error in one short line")),
                ("on_fes", models.JSONField(default=dict, help_text="front end -> [outcome, why]")),
            ],
            options={
                "indexes": [
                    models.Index(fields=["cluster", "began_at"], name="refresh_history_time"),
                    models.Index(fields=["target", "began_at"], name="refresh_history_table"),
                    models.Index(fields=["ending", "began_at"], name="refresh_history_ending"),
                ],
            },
        ),
        migrations.CreateModel(
            name="TableSweep",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "table",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sweep",
                        to="refresh.watchedtable",
                    ),
                ),
                (
                    "inspected_at",
                    models.DateTimeField(help_text="when a check last began", null=True),
                ),
                (
                    "seen_at",
                    models.DateTimeField(help_text="when a check last came through", null=True),
                ),
                (
                    "scanned_from",
                    models.TextField(blank=True, help_text="from this name on all were seen"),
                ),
                (
                    "problem",
                    models.TextField(blank=True, help_text="why nothing could be concluded"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="FileStamp",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "table",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="stamps",
                        to="refresh.watchedtable",
                    ),
                ),
                ("digest", models.CharField(help_text="sha256 of the name", max_length=64)),
                ("name", models.TextField(blank=True)),
                ("n_files", models.BigIntegerField()),
                ("n_bytes", models.BigIntegerField()),
                ("newest_ms", models.BigIntegerField()),
                ("seen_at", models.DateTimeField()),
                (
                    "changed_at",
                    models.DateTimeField(help_text="when it was last found changed", null=True),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("table", "digest"), name="refresh_stamp_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="TargetProbe",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "target",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="probe",
                        to="refresh.refreshtarget",
                    ),
                ),
                ("probed_at", models.DateTimeField(null=True)),
                ("repaired_at", models.DateTimeField(null=True)),
                (
                    "problem",
                    models.TextField(blank=True, help_text="why nothing could be concluded"),
                ),
            ],
        ),
    ]
