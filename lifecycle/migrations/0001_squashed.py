"""The tables of the app `lifecycle`, in place of the steps that made them (ADR 0035)."""

import uuid

import django.core.validators
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("lifecycle", "0001_initial"),
        ("lifecycle", "0002_policy"),
        ("lifecycle", "0003_guard"),
        ("lifecycle", "0004_open_policy_requests"),
        ("lifecycle", "0005_open_keys_are_uuids"),
        ("lifecycle", "0006_replaced_tables"),
        ("lifecycle", "0007_waivers"),
        ("lifecycle", "0007_path_fixes"),
        ("lifecycle", "0008_sums_and_sizes"),
        ("lifecycle", "0009_still_read"),
        ("lifecycle", "0010_fewer_indexes"),
        ("lifecycle", "0011_drills"),
        ("lifecycle", "0012_plan_parts"),
        ("lifecycle", "0013_plan_parts_filled"),
        ("lifecycle", "0014_still_read_bytes"),
        ("lifecycle", "0015_plans_not_created_and_limits"),
        ("lifecycle", "0016_approvals_bound"),
        ("lifecycle", "0017_cancelled_plans"),
        ("lifecycle", "0018_starting_runs_ended"),
        ("lifecycle", "0019_proposals"),
        ("lifecycle", "0020_plain_words"),
        ("lifecycle", "0021_plain_model_names"),
        ("lifecycle", "0022_plain_field_names"),
    ]

    initial = True

    dependencies = [
        ("act", "0001_squashed"),
        ("approvals", "0001_squashed"),
        ("notices", "0001_squashed"),
        ("runs", "0001_squashed"),
    ]

    operations = [
        migrations.CreateModel(
            name="ScanSnapshot",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("lake", models.CharField(max_length=32)),
                (
                    "run",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="runs.run"
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("LOADING", "LOADING"),
                            ("READY", "READY"),
                            ("TRIMMED", "TRIMMED"),
                        ],
                        default="LOADING",
                        max_length=8,
                    ),
                ),
                ("day", models.DateField()),
                (
                    "as_of",
                    models.DateTimeField(
                        help_text="The instant that due dates were judged against."
                    ),
                ),
                (
                    "read_at",
                    models.DateTimeField(help_text="Wall clock when the metastore was read."),
                ),
                ("notification_id", models.BigIntegerField()),
                ("totals", models.JSONField(default=dict)),
                ("results_uri", models.CharField(max_length=1024)),
            ],
            options={
                "indexes": [models.Index(fields=["lake", "-id"], name="generation_lake_newest")],
            },
        ),
        migrations.CreateModel(
            name="LatestScan",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("lake", models.CharField(max_length=32, unique=True)),
                (
                    "generation",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="lifecycle.scansnapshot",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="DatabaseFinding",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "generation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="lifecycle.scansnapshot",
                    ),
                ),
                ("lake", models.CharField(max_length=32)),
                ("db", models.CharField(max_length=128)),
                ("owner", models.CharField(blank=True, max_length=128)),
                ("db_owner", models.CharField(blank=True, max_length=128)),
                ("location", models.CharField(max_length=4000)),
                ("mode", models.CharField(max_length=8)),
                ("reasons", models.JSONField(default=list)),
                ("n_tables", models.IntegerField(default=0)),
                ("n_partitions", models.BigIntegerField(default=0)),
                ("n_clean_now", models.BigIntegerField(default=0)),
                ("n_soon", models.BigIntegerField(default=0)),
                ("bytes_clean_now", models.BigIntegerField(default=0)),
                ("bytes_soon", models.BigIntegerField(default=0)),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["generation", "bytes_clean_now", "id"],
                        name="database_finding_bytes",
                    ),
                    models.Index(
                        fields=["generation", "owner", "db"], name="database_finding_owner"
                    ),
                    models.Index(fields=["generation", "db", "id"], name="database_finding_name"),
                    models.Index(
                        fields=["generation", "db_owner"], name="database_finding_db_owner"
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("generation", "db"), name="database_finding_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="TableFinding",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "generation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="lifecycle.scansnapshot",
                    ),
                ),
                ("lake", models.CharField(max_length=32)),
                ("db", models.CharField(max_length=128)),
                ("table", models.CharField(max_length=256)),
                ("tbl_id", models.BigIntegerField()),
                ("owner", models.CharField(blank=True, max_length=128)),
                ("db_owner", models.CharField(blank=True, max_length=128)),
                ("mode", models.CharField(max_length=8)),
                ("table_type", models.CharField(max_length=32)),
                ("format", models.CharField(blank=True, max_length=64)),
                ("location", models.CharField(blank=True, max_length=4000)),
                ("level", models.IntegerField(null=True)),
                ("ttl", models.IntegerField(null=True)),
                ("policy_source", models.CharField(blank=True, max_length=64)),
                ("enrolled", models.BooleanField(default=False)),
                ("reasons", models.JSONField(default=list)),
                ("unsupported_reason", models.TextField(blank=True)),
                ("n_partitions", models.BigIntegerField(default=0)),
                ("n_files", models.BigIntegerField(null=True)),
                ("n_bytes", models.BigIntegerField(null=True)),
                ("n_clean_now", models.BigIntegerField(default=0)),
                ("n_soon", models.BigIntegerField(default=0)),
                ("n_not_now", models.BigIntegerField(default=0)),
                ("n_still_read", models.BigIntegerField(default=0)),
                ("n_held", models.BigIntegerField(default=0)),
                ("n_not_enrolled", models.BigIntegerField(default=0)),
                ("n_unsupported", models.BigIntegerField(default=0)),
                ("n_nonconforming", models.BigIntegerField(default=0)),
                ("n_unready", models.BigIntegerField(default=0)),
                ("n_keep_forever", models.BigIntegerField(default=0)),
                ("n_missing_directory", models.BigIntegerField(default=0)),
                ("n_unknown", models.BigIntegerField(default=0)),
                ("bytes_clean_now", models.BigIntegerField(default=0)),
                ("bytes_soon", models.BigIntegerField(default=0)),
                ("bytes_still_read", models.BigIntegerField(default=0)),
                ("class_bytes", models.JSONField(default=dict)),
                ("oldest_updated_at", models.DateTimeField(null=True)),
                ("newest_updated_at", models.DateTimeField(null=True)),
                ("next_due_on", models.DateField(null=True)),
                (
                    "window_due_last_on",
                    models.DateField(
                        help_text="Latest due day of the items that are due now or soon.", null=True
                    ),
                ),
                (
                    "window_created_at",
                    models.DateTimeField(help_text="Newest creation among them.", null=True),
                ),
                (
                    "window_updated_at",
                    models.DateTimeField(help_text="Newest update among them.", null=True),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["generation", "bytes_clean_now", "id"], name="table_finding_size"
                    ),
                    models.Index(
                        fields=["generation", "db", "table", "id"], name="table_finding_name"
                    ),
                    models.Index(
                        fields=["generation", "owner", "db", "table"], name="table_finding_by_owner"
                    ),
                    models.Index(fields=["generation", "db_owner"], name="table_finding_db_owner"),
                    models.Index(fields=["generation", "next_due_on"], name="table_finding_due"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("generation", "db", "table"), name="table_finding_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="PathFinding",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "generation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="lifecycle.scansnapshot",
                    ),
                ),
                ("lake", models.CharField(max_length=32)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("DATABASE", "DATABASE"),
                            ("TABLE", "TABLE"),
                            ("PARTITION", "PARTITION"),
                        ],
                        max_length=9,
                    ),
                ),
                ("db", models.CharField(max_length=128)),
                ("table", models.CharField(blank=True, max_length=256)),
                ("partition", models.CharField(blank=True, max_length=767)),
                ("owner", models.CharField(blank=True, max_length=128)),
                ("db_owner", models.CharField(blank=True, max_length=128)),
                ("location", models.CharField(blank=True, max_length=4000)),
                ("reasons", models.JSONField(default=list)),
                (
                    "reason_key",
                    models.CharField(
                        help_text="The reasons between bars, so that one can be searched anywhere.",
                        max_length=255,
                    ),
                ),
                ("related", models.JSONField(default=list)),
                ("hint", models.TextField(blank=True)),
                (
                    "waived",
                    models.JSONField(
                        default=list, help_text="The rules it breaks that exceptions silence."
                    ),
                ),
                (
                    "excepted_until",
                    models.DateField(help_text="The last day of the first to end.", null=True),
                ),
                (
                    "is_excepted",
                    models.BooleanField(default=False, help_text="Every rule it breaks is waived."),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["generation", "is_excepted", "db", "table"],
                        name="path_finding_waived",
                    ),
                    models.Index(fields=["generation", "db", "table"], name="path_finding_name"),
                    models.Index(
                        fields=["generation", "owner", "db", "table"], name="path_finding_by_owner"
                    ),
                    models.Index(fields=["generation", "db_owner"], name="path_finding_db_owner"),
                ],
            },
        ),
        migrations.CreateModel(
            name="PartitionRange",
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
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="ranges",
                        to="lifecycle.tablefinding",
                    ),
                ),
                (
                    "generation",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="lifecycle.scansnapshot",
                    ),
                ),
                ("cls", models.CharField(max_length=20)),
                ("first", models.CharField(blank=True, max_length=767)),
                ("last", models.CharField(blank=True, max_length=767)),
                ("n_items", models.BigIntegerField()),
                ("n_bytes", models.BigIntegerField(null=True)),
                ("due_first", models.DateField(null=True)),
                ("due_last", models.DateField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["table", "cls", "id"], name="item_range_class"),
                    models.Index(fields=["generation", "due_first"], name="item_range_due"),
                ],
            },
        ),
        migrations.CreateModel(
            name="SamplePartition",
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
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="examples",
                        to="lifecycle.tablefinding",
                    ),
                ),
                ("part_id", models.BigIntegerField()),
                ("partition", models.CharField(blank=True, max_length=767)),
                ("location", models.CharField(max_length=4000)),
                ("cls", models.CharField(max_length=20)),
                ("reason", models.TextField(blank=True)),
                ("level", models.IntegerField(null=True)),
                ("ttl", models.IntegerField(null=True)),
                ("policy_source", models.CharField(blank=True, max_length=64)),
                ("ddl_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(null=True)),
                (
                    "modified_at",
                    models.DateTimeField(help_text="Newest mtime of the files.", null=True),
                ),
                (
                    "read_at",
                    models.DateTimeField(
                        help_text="Newest access time; unknown if null.", null=True
                    ),
                ),
                ("updated_at", models.DateTimeField(null=True)),
                ("winner", models.CharField(blank=True, max_length=8)),
                ("due_at", models.DateTimeField(null=True)),
                ("due_on", models.DateField(null=True)),
                ("n_files", models.BigIntegerField(null=True)),
                ("n_bytes", models.BigIntegerField(null=True)),
                ("ready", models.BooleanField(default=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["table", "cls", "due_on", "id"], name="item_example_due"),
                    models.Index(fields=["table", "due_on"], name="item_example_by_day"),
                ],
            },
        ),
        migrations.CreateModel(
            name="TrendPoint",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("lake", models.CharField(max_length=32)),
                ("day", models.DateField()),
                ("metric", models.CharField(max_length=64)),
                ("value", models.BigIntegerField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("lake", "metric", "day"), name="trend_point_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="StandingRule",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("digest", models.CharField(max_length=64)),
                ("reason", models.TextField()),
                ("created_at", models.DateTimeField()),
                (
                    "approval",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="approvals.approval",
                    ),
                ),
                ("ended_at", models.DateTimeField(null=True)),
                ("lake", models.CharField(max_length=32)),
                ("db", models.CharField(max_length=128)),
                ("table", models.CharField(max_length=128)),
                (
                    "tbl_id",
                    models.BigIntegerField(
                        help_text="The table's generation; a new one is not covered."
                    ),
                ),
                ("max_items_day", models.PositiveIntegerField()),
                ("max_bytes_day", models.PositiveBigIntegerField()),
                (
                    "level",
                    models.SmallIntegerField(
                        help_text="What the approvers saw; null: unknown.", null=True
                    ),
                ),
                ("ttl", models.IntegerField(null=True)),
                ("owner", models.CharField(blank=True, max_length=150)),
                ("starts_on", models.DateField()),
                ("until", models.DateField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("PENDING", "waiting for approval"),
                            ("ACTIVE", "active"),
                            ("REJECTED", "rejected"),
                            ("LAPSED", "expired"),
                            ("ENDED", "ended"),
                        ],
                        default="PENDING",
                        max_length=16,
                    ),
                ),
                ("requested_by", models.CharField(max_length=150)),
                ("ended_by", models.CharField(blank=True, max_length=150)),
                ("last_note", models.TextField(blank=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["lake", "state", "db", "table"], name="standing_by_state")
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("max_items_day__gte", 1), ("max_bytes_day__gte", 1)),
                        name="standing_caps_positive",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="DropPlan",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("created_at", models.DateTimeField()),
                (
                    "approval",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="approvals.approval",
                    ),
                ),
                ("ended_at", models.DateTimeField(null=True)),
                ("lake", models.CharField(max_length=32)),
                (
                    "generation",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="lifecycle.scansnapshot",
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("DRAFTING", "preparing"),
                            ("PENDING", "waiting for approval"),
                            ("APPROVED", "approved, cooling off"),
                            ("RUNNING", "running"),
                            ("DONE", "done"),
                            ("REJECTED", "rejected"),
                            ("LAPSED", "expired"),
                            ("WITHDRAWN", "withdrawn"),
                            ("FAILED", "failed"),
                            ("CANCELLED", "cancelled while it ran"),
                            ("NOT_CREATED", "not created"),
                        ],
                        default="DRAFTING",
                        max_length=16,
                    ),
                ),
                (
                    "source",
                    models.CharField(
                        choices=[
                            ("PERSON", "made by a person"),
                            ("STANDING", "made by a standing rule"),
                        ],
                        default="PERSON",
                        max_length=16,
                    ),
                ),
                (
                    "standing_rule",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        to="lifecycle.standingrule",
                    ),
                ),
                ("requested_by", models.CharField(max_length=150)),
                ("requesters", models.JSONField(default=list)),
                ("reason", models.TextField(blank=True)),
                ("selection", models.JSONField(default=dict)),
                ("digest", models.CharField(blank=True, max_length=64)),
                ("items_uri", models.TextField(blank=True)),
                ("items_sha256", models.CharField(blank=True, max_length=64)),
                ("backup_root", models.TextField(blank=True)),
                (
                    "keep_days",
                    models.JSONField(
                        default=dict,
                        help_text="For how many days, at least, backups are kept, by database.",
                    ),
                ),
                ("n_tables", models.PositiveIntegerField(default=0)),
                ("n_items", models.PositiveBigIntegerField(default=0)),
                ("n_bytes", models.PositiveBigIntegerField(default=0)),
                ("n_files", models.PositiveBigIntegerField(default=0)),
                ("oldest_at", models.DateTimeField(blank=True, null=True)),
                ("newest_at", models.DateTimeField(blank=True, null=True)),
                (
                    "limits",
                    models.JSONField(
                        default=dict,
                        help_text="The caps and the inventory when it was created; a record.",
                    ),
                ),
                ("left_out", models.JSONField(default=dict)),
                (
                    "plan_run",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="runs.run",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="runs.run",
                    ),
                ),
                ("ended_by", models.CharField(blank=True, max_length=150)),
                ("ended_reason", models.TextField(blank=True)),
                ("outcome", models.JSONField(default=dict)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["lake", "created_at", "id"], name="plan_by_time"),
                    models.Index(
                        fields=["lake", "state", "created_at", "id"], name="plan_by_state"
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    "DRAFTING",
                                    "PENDING",
                                    "APPROVED",
                                    "RUNNING",
                                    "DONE",
                                    "REJECTED",
                                    "LAPSED",
                                    "WITHDRAWN",
                                    "FAILED",
                                    "CANCELLED",
                                    "NOT_CREATED",
                                ],
                            )
                        ),
                        name="plan_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("state__in", ["PENDING", "APPROVED", "RUNNING", "DONE"]),
                                _negated=True,
                            ),
                            models.Q(
                                models.Q(("digest", ""), _negated=True),
                                models.Q(("items_sha256", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="plan_past_draft_has_digest",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DropPlanPart",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "plan",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="parts",
                        to="lifecycle.dropplan",
                    ),
                ),
                ("lake", models.CharField(max_length=32)),
                ("db", models.CharField(blank=True, max_length=128)),
                ("owner", models.CharField(blank=True, max_length=150)),
                ("db_owner", models.CharField(blank=True, max_length=150)),
                ("n_tables", models.PositiveIntegerField(default=0)),
                ("n_items", models.PositiveBigIntegerField(default=0)),
                ("n_bytes", models.PositiveBigIntegerField(default=0)),
                ("n_files", models.PositiveBigIntegerField(default=0)),
                ("n_still_read", models.PositiveBigIntegerField(default=0)),
                ("n_first", models.PositiveIntegerField(default=0)),
                ("oldest_at", models.DateTimeField(null=True)),
                ("newest_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["plan", "owner"], name="plan_part_owner"),
                    models.Index(fields=["plan", "db_owner"], name="plan_part_db_owner"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("plan", "db", "owner", "db_owner"), name="plan_part_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="DropPlanTable",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "plan",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tables",
                        to="lifecycle.dropplan",
                    ),
                ),
                ("lake", models.CharField(max_length=32)),
                ("db", models.CharField(max_length=128)),
                ("table", models.CharField(max_length=128)),
                ("tbl_id", models.BigIntegerField()),
                (
                    "kind",
                    models.CharField(
                        choices=[("TABLE", "table"), ("PARTITION", "partition")], max_length=16
                    ),
                ),
                ("owner", models.CharField(blank=True, max_length=150)),
                ("db_owner", models.CharField(blank=True, max_length=150)),
                ("n_items", models.PositiveBigIntegerField()),
                ("n_bytes", models.PositiveBigIntegerField(default=0)),
                ("n_files", models.PositiveBigIntegerField(default=0)),
                ("n_still_read", models.PositiveBigIntegerField(default=0)),
                ("oldest_at", models.DateTimeField(blank=True, null=True)),
                ("newest_at", models.DateTimeField(blank=True, null=True)),
                ("is_first_drop", models.BooleanField(default=False)),
                ("digest", models.CharField(max_length=64)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["lake", "db", "table"], name="plan_table_by_name")
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("plan", "db", "table"), name="plan_table_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="DropPlanExample",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "plan_table",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="examples",
                        to="lifecycle.dropplantable",
                    ),
                ),
                ("partition", models.CharField(blank=True, max_length=767)),
                ("location", models.TextField()),
                ("updated_at", models.DateTimeField()),
                ("due_on", models.DateField()),
                ("n_bytes", models.PositiveBigIntegerField(null=True)),
                ("n_files", models.PositiveBigIntegerField(null=True)),
                ("is_still_read", models.BooleanField(default=False)),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="DropPlanResult",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "plan",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="results",
                        to="lifecycle.dropplan",
                    ),
                ),
                ("db", models.CharField(max_length=128)),
                ("table", models.CharField(max_length=128)),
                ("partition", models.CharField(blank=True, max_length=767)),
                ("outcome", models.CharField(max_length=32)),
                ("reason", models.TextField(blank=True)),
            ],
            options={
                "ordering": ["id"],
                "indexes": [
                    models.Index(fields=["plan", "outcome", "id"], name="plan_result_by_outcome")
                ],
            },
        ),
        migrations.CreateModel(
            name="DeletionRequest",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("lake", models.CharField(max_length=32)),
                ("db", models.CharField(max_length=128)),
                ("table", models.CharField(max_length=128)),
                ("partition", models.CharField(blank=True, max_length=767)),
                ("with_recently_read", models.BooleanField(default=False)),
                ("requested_by", models.CharField(max_length=150)),
                ("reason", models.TextField()),
                (
                    "state",
                    models.CharField(
                        choices=[("OPEN", "open"), ("PLANNED", "in a plan"), ("CLOSED", "closed")],
                        default="OPEN",
                        max_length=16,
                    ),
                ),
                (
                    "plan",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="requests",
                        to="lifecycle.dropplan",
                    ),
                ),
                ("created_at", models.DateTimeField()),
                ("closed_at", models.DateTimeField(blank=True, null=True)),
                ("closed_by", models.CharField(blank=True, max_length=150)),
                ("closed_reason", models.TextField(blank=True)),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["lake", "state", "created_at", "id"], name="clean_now_by_state"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Enrollment",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("digest", models.CharField(max_length=64)),
                ("reason", models.TextField()),
                ("created_at", models.DateTimeField()),
                (
                    "approval",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="approvals.approval",
                    ),
                ),
                ("ended_at", models.DateTimeField(null=True)),
                ("lake", models.CharField(max_length=32)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("PENDING", "PENDING"),
                            ("RUNNING", "RUNNING"),
                            ("DONE", "DONE"),
                            ("FAILED", "FAILED"),
                            ("REJECTED", "REJECTED"),
                            ("LAPSED", "LAPSED"),
                            ("WITHDRAWN", "WITHDRAWN"),
                            ("UNDOING", "UNDOING"),
                            ("UNDONE", "UNDONE"),
                        ],
                        default="PENDING",
                        max_length=9,
                    ),
                ),
                ("level", models.IntegerField()),
                ("ttl", models.IntegerField()),
                (
                    "selection",
                    models.JSONField(
                        default=dict, help_text="The filter by which tables were chosen."
                    ),
                ),
                ("what_if", models.JSONField(default=dict)),
                ("n_tables", models.PositiveIntegerField(default=0)),
                (
                    "generation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="lifecycle.scansnapshot",
                    ),
                ),
                ("requested_by", models.CharField(max_length=150)),
                ("requesters", models.JSONField(default=list)),
                (
                    "run",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="runs.run",
                    ),
                ),
                (
                    "undo_run",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="runs.run",
                    ),
                ),
                ("undo_by", models.CharField(blank=True, max_length=150)),
                ("undo_reason", models.TextField(blank=True)),
                ("note", models.TextField(blank=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["lake", "created_at", "id"], name="enrolment_newest"),
                    models.Index(fields=["lake", "state", "created_at"], name="enrolment_state"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    "PENDING",
                                    "RUNNING",
                                    "DONE",
                                    "FAILED",
                                    "REJECTED",
                                    "LAPSED",
                                    "WITHDRAWN",
                                    "UNDOING",
                                    "UNDONE",
                                ],
                            )
                        ),
                        name="enrolment_known_state",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="EnrollmentItem",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "enrolment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="items",
                        to="lifecycle.enrollment",
                    ),
                ),
                ("db", models.CharField(max_length=128)),
                ("table", models.CharField(max_length=256)),
                ("tbl_id", models.BigIntegerField()),
                ("owner", models.CharField(blank=True, max_length=128)),
                ("location", models.CharField(blank=True, max_length=4000)),
                ("seen_level", models.IntegerField(null=True)),
                ("seen_ttl", models.IntegerField(null=True)),
                ("n_items", models.BigIntegerField(default=0)),
                ("n_now", models.BigIntegerField(default=0)),
                ("n_soon", models.BigIntegerField(default=0)),
                ("n_unsure", models.BigIntegerField(default=0)),
                ("bytes_now", models.BigIntegerField(default=0)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("PENDING", "PENDING"),
                            ("DONE", "DONE"),
                            ("SKIPPED", "SKIPPED"),
                            ("FAILED", "FAILED"),
                            ("UNDONE", "UNDONE"),
                            ("KEPT", "KEPT"),
                        ],
                        default="PENDING",
                        max_length=8,
                    ),
                ),
                ("note", models.TextField(blank=True)),
                ("before", models.JSONField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["enrolment", "state", "id"], name="enrol_item_state")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("enrolment", "db", "table"), name="enrolled_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="TableAges",
            fields=[
                (
                    "table",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="ages",
                        serialize=False,
                        to="lifecycle.tablefinding",
                    ),
                ),
                (
                    "counts",
                    models.JSONField(
                        help_text="by bucket: [age in days, n, bytes, files, unmeasured]"
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "table ages",
            },
        ),
        migrations.CreateModel(
            name="PolicyEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("lake", models.CharField(max_length=32)),
                (
                    "event_id",
                    models.BigIntegerField(
                        help_text="the event of the metastore's log that told it"
                    ),
                ),
                ("at", models.DateTimeField()),
                ("operation", models.CharField(max_length=32)),
                ("db", models.CharField(max_length=128)),
                ("table", models.CharField(blank=True, max_length=256)),
                (
                    "new_name",
                    models.CharField(
                        blank=True, help_text="what it was renamed to", max_length=400
                    ),
                ),
                ("owner", models.CharField(blank=True, max_length=128)),
                ("db_owner", models.CharField(blank=True, max_length=128)),
                (
                    "actor",
                    models.CharField(
                        blank=True, help_text="empty where nobody knows", max_length=150
                    ),
                ),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("CHANGED", "CHANGED"),
                            ("WOULD_REFUSE", "WOULD_REFUSE"),
                            ("WARNED", "WARNED"),
                            ("REFUSED", "REFUSED"),
                            ("UNSEEN", "UNSEEN"),
                            ("REPLACED", "REPLACED"),
                        ],
                        max_length=12,
                    ),
                ),
                (
                    "before",
                    models.JSONField(
                        help_text="null where LEVEL and TTL stayed as they were", null=True
                    ),
                ),
                ("after", models.JSONField(null=True)),
                (
                    "rules",
                    models.JSONField(
                        default=list, help_text="[rule, sentence] of each rule it broke"
                    ),
                ),
                ("is_alarm", models.BooleanField(default=False)),
                ("closed_by", models.CharField(blank=True, max_length=150)),
                ("closed_at", models.DateTimeField(null=True)),
                ("closed_reason", models.TextField(blank=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["lake", "at", "id"], name="policy_event_time"),
                    models.Index(fields=["lake", "db", "table", "at"], name="policy_event_table"),
                    models.Index(
                        fields=["lake", "is_alarm", "closed_at", "at"], name="policy_event_open"
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("lake", "event_id", "at"), name="policy_event_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "outcome__in",
                                [
                                    "CHANGED",
                                    "WOULD_REFUSE",
                                    "WARNED",
                                    "REFUSED",
                                    "UNSEEN",
                                    "REPLACED",
                                ],
                            )
                        ),
                        name="policy_event_outcome",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DroppedObject",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("public_id", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("lake", models.CharField(max_length=32)),
                ("event_id", models.BigIntegerField()),
                ("dropped_at", models.DateTimeField()),
                ("dropped_by", models.CharField(max_length=150)),
                ("db", models.CharField(max_length=128)),
                ("table", models.CharField(blank=True, max_length=256)),
                ("table_type", models.CharField(blank=True, max_length=32)),
                ("owner", models.CharField(blank=True, max_length=128)),
                ("db_owner", models.CharField(blank=True, max_length=128)),
                ("location", models.CharField(blank=True, max_length=4000)),
                ("n_columns", models.IntegerField(null=True)),
                (
                    "n_partitions",
                    models.BigIntegerField(help_text="null where nobody could count", null=True),
                ),
                (
                    "delete_data",
                    models.BooleanField(
                        help_text="what the DROP asked for; null unknown", null=True
                    ),
                ),
                (
                    "with_database",
                    models.BooleanField(default=False, help_text="dropped by CASCADE"),
                ),
                (
                    "struct",
                    models.TextField(
                        blank=True, help_text="the Thrift object as JSON; empty if too large"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["lake", "dropped_at", "id"], name="dropped_object_time"),
                    models.Index(fields=["lake", "db", "table", "id"], name="dropped_object_name"),
                    models.Index(
                        fields=["lake", "dropped_by", "dropped_at"], name="dropped_object_by"
                    ),
                    models.Index(
                        fields=["lake", "owner", "dropped_at"], name="dropped_object_owner"
                    ),
                    models.Index(fields=["lake", "db_owner"], name="dropped_object_db_owner"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("lake", "event_id", "dropped_at"), name="dropped_object_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="OwnerTotals",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "generation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="lifecycle.scansnapshot",
                    ),
                ),
                ("lake", models.CharField(max_length=32)),
                ("db", models.CharField(blank=True, max_length=128)),
                ("owner", models.CharField(blank=True, max_length=128)),
                ("db_owner", models.CharField(blank=True, max_length=128)),
                ("n_clean_now", models.BigIntegerField(default=0)),
                ("bytes_clean_now", models.BigIntegerField(default=0)),
                ("n_soon", models.BigIntegerField(default=0)),
                ("bytes_soon", models.BigIntegerField(default=0)),
                ("n_still_read", models.BigIntegerField(default=0)),
                ("bytes_still_read", models.BigIntegerField(default=0)),
                ("n_not_enrolled", models.BigIntegerField(default=0)),
                ("n_paths", models.BigIntegerField(default=0)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["generation", "owner"], name="owner_totals_owner"),
                    models.Index(fields=["generation", "db_owner"], name="owner_totals_db_owner"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("generation", "db", "owner", "db_owner"), name="owner_totals_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="DatabaseSetting",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("lake", models.CharField(max_length=32)),
                ("db", models.CharField(max_length=128)),
                (
                    "mode",
                    models.CharField(
                        choices=[("OBSERVE", "OBSERVE"), ("NOTIFY", "NOTIFY"), ("ACT", "ACT")],
                        default="OBSERVE",
                        max_length=8,
                    ),
                ),
                (
                    "template",
                    models.CharField(
                        blank=True,
                        help_text="Where its paths must be; empty = /user/<owner>/.",
                        max_length=512,
                    ),
                ),
                (
                    "notice_days",
                    models.PositiveSmallIntegerField(
                        default=7, validators=[django.core.validators.MinValueValidator(1)]
                    ),
                ),
                (
                    "backup_days",
                    models.PositiveSmallIntegerField(
                        default=15, validators=[django.core.validators.MinValueValidator(15)]
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("lake", "db"), name="database_setting_once"),
                    models.CheckConstraint(
                        condition=models.Q(("backup_days__gte", 15)), name="backup_days_at_least_15"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("notice_days__gte", 1)), name="notice_days_at_least_1"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PolicyRequest",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("digest", models.CharField(max_length=64)),
                ("reason", models.TextField()),
                ("created_at", models.DateTimeField()),
                (
                    "approval",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="approvals.approval",
                    ),
                ),
                ("ended_at", models.DateTimeField(null=True)),
                ("lake", models.CharField(max_length=32)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("SET", "SET"),
                            ("EXTEND", "EXTEND"),
                            ("HAND_OVER", "HAND_OVER"),
                            ("WAIVE", "WAIVE"),
                        ],
                        max_length=9,
                    ),
                ),
                ("db", models.CharField(max_length=128)),
                (
                    "table",
                    models.CharField(blank=True, help_text="empty = the database", max_length=256),
                ),
                ("partition", models.CharField(blank=True, max_length=767)),
                ("tbl_id", models.BigIntegerField(null=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("PENDING", "PENDING"),
                            ("RUNNING", "RUNNING"),
                            ("DONE", "DONE"),
                            ("FAILED", "FAILED"),
                            ("REJECTED", "REJECTED"),
                            ("LAPSED", "LAPSED"),
                            ("WITHDRAWN", "WITHDRAWN"),
                        ],
                        default="PENDING",
                        max_length=9,
                    ),
                ),
                ("seen_level", models.IntegerField(null=True)),
                ("seen_ttl", models.IntegerField(null=True)),
                ("seen_owner", models.CharField(blank=True, max_length=128)),
                ("level", models.IntegerField(null=True)),
                ("ttl", models.IntegerField(null=True)),
                ("owner", models.CharField(blank=True, help_text="The new owner.", max_length=128)),
                (
                    "rule",
                    models.CharField(
                        blank=True, help_text="The path rule to waive.", max_length=32
                    ),
                ),
                ("days", models.PositiveIntegerField(null=True)),
                (
                    "until",
                    models.DateField(
                        help_text="The last day of an extension or exception.", null=True
                    ),
                ),
                ("needs_admin", models.BooleanField(default=False)),
                (
                    "what_if",
                    models.JSONField(
                        default=dict, help_text="What the change would do, when asked for."
                    ),
                ),
                (
                    "open_key",
                    models.UUIDField(
                        help_text="Of its name while it is open.", null=True, unique=True
                    ),
                ),
                ("requested_by", models.CharField(max_length=150)),
                ("decided_by", models.CharField(blank=True, max_length=150)),
                ("note", models.TextField(blank=True, help_text="Reason of the end.")),
                (
                    "run",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="runs.run",
                    ),
                ),
                (
                    "hold",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="act.hold",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["lake", "created_at", "id"], name="policy_request_newest"),
                    models.Index(
                        fields=["lake", "state", "created_at"], name="policy_request_state"
                    ),
                    models.Index(
                        fields=["lake", "db", "table", "created_at"], name="policy_request_table"
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    "PENDING",
                                    "RUNNING",
                                    "DONE",
                                    "FAILED",
                                    "REJECTED",
                                    "LAPSED",
                                    "WITHDRAWN",
                                ],
                            )
                        ),
                        name="policy_request_known_state",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["SET", "EXTEND", "HAND_OVER", "WAIVE"])),
                        name="policy_request_known_kind",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PathWaiver",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("public_id", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("lake", models.CharField(max_length=32)),
                ("db", models.CharField(max_length=128)),
                (
                    "table",
                    models.CharField(
                        blank=True, help_text="empty = the database itself", max_length=256
                    ),
                ),
                ("reason", models.CharField(help_text="The rule that is waived.", max_length=32)),
                ("why", models.TextField()),
                ("until", models.DateField(help_text="The last day on which it counts.")),
                ("requested_by", models.CharField(max_length=150)),
                ("approved_by", models.JSONField(default=list)),
                ("granted_at", models.DateTimeField()),
                (
                    "request",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="waiver",
                        to="lifecycle.policyrequest",
                    ),
                ),
                (
                    "ended_at",
                    models.DateTimeField(
                        help_text="When somebody ended it before its day.", null=True
                    ),
                ),
                ("ended_by", models.CharField(blank=True, max_length=150)),
                ("end_reason", models.TextField(blank=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["lake", "until"], name="path_waiver_until"),
                    models.Index(fields=["lake", "db", "table"], name="path_waiver_name"),
                    models.Index(fields=["lake", "granted_at", "id"], name="path_waiver_newest"),
                ],
            },
        ),
        migrations.CreateModel(
            name="NoticeCoverage",
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
                ("tbl_id", models.BigIntegerField()),
                ("level", models.IntegerField()),
                ("ttl", models.IntegerField()),
                ("horizon_on", models.DateField()),
                ("as_of", models.DateTimeField()),
                ("read_at", models.DateTimeField()),
                (
                    "notice",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="notices.notice",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["lake", "tbl_id"], name="coverage_table")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("notice", "tbl_id"), name="coverage_once_a_notice"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="DryRunRecord",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("lake", models.CharField(max_length=32)),
                ("db", models.CharField(max_length=128)),
                ("day", models.DateField()),
                ("n_due", models.BigIntegerField(default=0)),
                ("n_bytes_due", models.BigIntegerField(default=0)),
                (
                    "n_new",
                    models.BigIntegerField(
                        default=0, help_text="Due today and not the day before."
                    ),
                ),
                ("n_bytes_new", models.BigIntegerField(default=0)),
                ("n_written_again", models.BigIntegerField(default=0)),
                ("n_read_again", models.BigIntegerField(default=0)),
                (
                    "n_bytes_again",
                    models.BigIntegerField(
                        default=0, help_text="Size when it would have been dropped."
                    ),
                ),
                (
                    "examples",
                    models.JSONField(default=list, help_text="Some items that were used again."),
                ),
            ],
            options={
                "abstract": False,
                "constraints": [
                    models.UniqueConstraint(fields=("lake", "db", "day"), name="shadow_record_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="DryRunTable",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("lake", models.CharField(max_length=32)),
                ("db", models.CharField(max_length=128)),
                ("day", models.DateField()),
                ("n_due", models.BigIntegerField(default=0)),
                ("n_bytes_due", models.BigIntegerField(default=0)),
                (
                    "n_new",
                    models.BigIntegerField(
                        default=0, help_text="Due today and not the day before."
                    ),
                ),
                ("n_bytes_new", models.BigIntegerField(default=0)),
                ("n_written_again", models.BigIntegerField(default=0)),
                ("n_read_again", models.BigIntegerField(default=0)),
                (
                    "n_bytes_again",
                    models.BigIntegerField(
                        default=0, help_text="Size when it would have been dropped."
                    ),
                ),
                (
                    "examples",
                    models.JSONField(default=list, help_text="Some items that were used again."),
                ),
                ("table", models.CharField(max_length=256)),
            ],
            options={
                "abstract": False,
                "indexes": [models.Index(fields=["lake", "day"], name="shadow_table_day")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("lake", "db", "table", "day"), name="shadow_table_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="PolicySnapshot",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("lake", models.CharField(max_length=32)),
                ("db", models.CharField(max_length=128)),
                ("table", models.CharField(blank=True, max_length=256)),
                ("level", models.IntegerField(null=True)),
                ("ttl", models.IntegerField(null=True)),
                (
                    "problem",
                    models.TextField(blank=True, help_text="Reason the values cannot be used."),
                ),
                ("owner", models.CharField(blank=True, max_length=128)),
                ("seen_at", models.DateTimeField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("lake", "db", "table"), name="policy_seen_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="DeletionConsent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("public_id", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("lake", models.CharField(max_length=32)),
                ("db", models.CharField(max_length=128)),
                ("table", models.CharField(max_length=256)),
                (
                    "partition",
                    models.CharField(
                        blank=True, help_text="empty = the whole table", max_length=767
                    ),
                ),
                ("tbl_id", models.BigIntegerField()),
                ("until", models.DateField(help_text="The last day on which it counts.")),
                ("reason", models.TextField()),
                ("given_by", models.CharField(max_length=150)),
                ("given_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
                ("ended_by", models.CharField(blank=True, max_length=150)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["lake", "until"], name="still_read_until"),
                    models.Index(fields=["lake", "db", "table"], name="still_read_name"),
                    models.Index(fields=["lake", "given_at", "id"], name="still_read_newest"),
                ],
            },
        ),
        migrations.CreateModel(
            name="RelocationPlan",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("reason", models.TextField()),
                ("created_at", models.DateTimeField()),
                (
                    "approval",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="approvals.approval",
                    ),
                ),
                ("ended_at", models.DateTimeField(null=True)),
                ("lake", models.CharField(max_length=32)),
                (
                    "generation",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="lifecycle.scansnapshot",
                    ),
                ),
                (
                    "undo_of",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="undone_by",
                        to="lifecycle.relocationplan",
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("DRAFTING", "preparing"),
                            ("PENDING", "waiting for approval"),
                            ("APPROVED", "approved, cooling off"),
                            ("RUNNING", "running"),
                            ("DONE", "done"),
                            ("REJECTED", "rejected"),
                            ("LAPSED", "expired"),
                            ("WITHDRAWN", "withdrawn"),
                            ("FAILED", "failed"),
                            ("CANCELLED", "cancelled while it ran"),
                            ("NOT_CREATED", "not created"),
                        ],
                        default="DRAFTING",
                        max_length=16,
                    ),
                ),
                ("requested_by", models.CharField(max_length=150)),
                ("requesters", models.JSONField(default=list)),
                ("digest", models.CharField(blank=True, max_length=64)),
                ("items_uri", models.TextField(blank=True)),
                ("backup_root", models.TextField(blank=True)),
                ("n_items", models.PositiveIntegerField(default=0)),
                ("n_left_out", models.PositiveIntegerField(default=0)),
                ("n_bytes", models.PositiveBigIntegerField(default=0)),
                ("n_files", models.PositiveBigIntegerField(default=0)),
                (
                    "plan_run",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="runs.run",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="runs.run",
                    ),
                ),
                ("ended_by", models.CharField(blank=True, max_length=150)),
                ("ended_reason", models.TextField(blank=True)),
                ("outcome", models.JSONField(default=dict)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["lake", "created_at", "id"], name="path_fix_by_time"),
                    models.Index(
                        fields=["lake", "state", "created_at", "id"], name="path_fix_by_state"
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    "DRAFTING",
                                    "PENDING",
                                    "APPROVED",
                                    "RUNNING",
                                    "DONE",
                                    "REJECTED",
                                    "LAPSED",
                                    "WITHDRAWN",
                                    "FAILED",
                                    "CANCELLED",
                                    "NOT_CREATED",
                                ],
                            )
                        ),
                        name="path_fix_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("state__in", ["PENDING", "APPROVED", "RUNNING", "DONE"]),
                                _negated=True,
                            ),
                            models.Q(("digest", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="path_fix_past_draft_has_digest",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RelocationMove",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "fix",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="items",
                        to="lifecycle.relocationplan",
                    ),
                ),
                ("lake", models.CharField(max_length=32)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("DATABASE", "DATABASE"),
                            ("TABLE", "TABLE"),
                            ("PARTITION", "PARTITION"),
                        ],
                        max_length=9,
                    ),
                ),
                ("db", models.CharField(max_length=128)),
                ("table", models.CharField(blank=True, max_length=256)),
                ("partition", models.CharField(blank=True, max_length=767)),
                ("owner", models.CharField(blank=True, max_length=150)),
                ("db_owner", models.CharField(blank=True, max_length=150)),
                ("reasons", models.JSONField(default=list)),
                ("source", models.TextField(blank=True)),
                ("target", models.TextField(blank=True)),
                ("n_files", models.PositiveBigIntegerField(default=0)),
                ("n_bytes", models.PositiveBigIntegerField(default=0)),
                ("n_partitions", models.PositiveIntegerField(default=0)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("ASKED", "being checked"),
                            ("LEFT_OUT", "left out"),
                            ("PLANNED", "to be moved"),
                            ("MOVED", "moved"),
                            ("NEW_DATA", "moved; new files at old path"),
                            ("SKIPPED", "changed since, skipped"),
                            ("RETURNED", "moved back"),
                            ("GONE", "changed by somebody else"),
                            ("NOT_REACHED", "not reached"),
                            ("UNSETTLED", "incomplete, needs attention"),
                            ("TAKEN_BACK", "moved, and undone"),
                        ],
                        default="ASKED",
                        max_length=16,
                    ),
                ),
                (
                    "why",
                    models.CharField(
                        blank=True, help_text="why it is left out, as a word", max_length=32
                    ),
                ),
                ("note", models.TextField(blank=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["fix", "state", "id"], name="path_fix_item_state"),
                    models.Index(fields=["lake", "db", "table"], name="path_fix_item_name"),
                ],
            },
        ),
        migrations.CreateModel(
            name="BackupSlice",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "batch",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="act.backupbatch",
                    ),
                ),
                ("partition", models.CharField(blank=True, max_length=767)),
                ("source", models.TextField()),
                ("n_files", models.PositiveBigIntegerField(default=0)),
                ("n_bytes", models.PositiveBigIntegerField(default=0)),
                ("read_at", models.DateTimeField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("batch", "partition"), name="backup_slice_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="PurgeNotice",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "batch",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="act.backupbatch",
                    ),
                ),
                (
                    "notice",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="notices.notice",
                    ),
                ),
                (
                    "purge_after",
                    models.DateTimeField(help_text="The date it named; null: unknown.", null=True),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("batch", "notice"), name="purge_announced_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="RestoreTest",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("public_id", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("lake", models.CharField(max_length=32)),
                ("run_id", models.UUIDField(unique=True)),
                (
                    "open_key",
                    models.UUIDField(
                        help_text="its lake's while it is under way: there is one at a time",
                        null=True,
                        unique=True,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("RUNNING", "running"),
                            ("PROVEN", "proven"),
                            ("FAILED", "failed"),
                            ("INCOMPLETE", "incomplete"),
                        ],
                        default="RUNNING",
                        max_length=16,
                    ),
                ),
                ("requested_by", models.CharField(max_length=150)),
                ("started_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(null=True)),
                ("sample", models.JSONField(default=list, help_text="the batches drawn")),
                ("n_items", models.PositiveIntegerField(default=0)),
                ("n_verified", models.PositiveIntegerField(default=0)),
                ("n_differing", models.PositiveIntegerField(default=0)),
                ("n_skipped", models.PositiveIntegerField(default=0)),
                ("n_bytes", models.BigIntegerField(default=0)),
                ("n_rows", models.BigIntegerField(default=0)),
                ("why", models.TextField(blank=True, help_text="why it proves nothing")),
                ("is_clean", models.BooleanField(default=False, help_text="its scratch is gone")),
            ],
            options={
                "indexes": [
                    models.Index(fields=["lake", "-started_at", "-id"], name="drill_by_time"),
                    models.Index(fields=["lake", "is_clean"], name="drill_left_over"),
                ],
            },
        ),
        migrations.CreateModel(
            name="RestoreTestItem",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "drill",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="items",
                        to="lifecycle.restoretest",
                    ),
                ),
                ("lake", models.CharField(max_length=32)),
                ("batch_id", models.UUIDField(help_text="public id of the backup batch")),
                ("day", models.DateField(help_text="the backup's day")),
                ("db", models.CharField(max_length=128)),
                ("table", models.CharField(max_length=128)),
                ("table_owner", models.CharField(blank=True, max_length=150)),
                ("partition", models.CharField(blank=True, max_length=767)),
                ("item", models.CharField(blank=True, max_length=64)),
                ("format", models.CharField(blank=True, max_length=32)),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("PROVEN", "proven"),
                            ("DIFFERS", "differs"),
                            ("SKIPPED", "skipped"),
                        ],
                        max_length=16,
                    ),
                ),
                ("n_files", models.PositiveBigIntegerField(default=0)),
                ("n_bytes", models.BigIntegerField(default=0)),
                (
                    "n_rows",
                    models.BigIntegerField(
                        help_text="empty = its format is not read here", null=True
                    ),
                ),
                (
                    "content",
                    models.CharField(
                        blank=True, help_text="sha256 of all its files", max_length=64
                    ),
                ),
                ("differences", models.JSONField(default=list)),
                ("remarks", models.JSONField(default=list)),
                ("checked_at", models.DateTimeField()),
            ],
            options={
                "indexes": [
                    models.Index(fields=["lake", "db", "table", "outcome"], name="drill_by_table"),
                    models.Index(fields=["lake", "batch_id", "outcome"], name="drill_by_batch"),
                    models.Index(fields=["lake", "day", "outcome"], name="drill_by_day"),
                    models.Index(fields=["drill", "db", "table", "id"], name="drill_in_order"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("drill", "batch_id", "item"), name="drill_item_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="RestoreVerification",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("lake", models.CharField(max_length=32)),
                ("db", models.CharField(max_length=128)),
                ("verified_at", models.DateTimeField(null=True)),
                (
                    "proven_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="lifecycle.restoretest",
                    ),
                ),
                ("failed_at", models.DateTimeField(null=True)),
                (
                    "failed_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="lifecycle.restoretest",
                    ),
                ),
                ("backed_up_since", models.DateField(null=True)),
                (
                    "n_restorable",
                    models.PositiveIntegerField(default=0, help_text="batches that can come back"),
                ),
                ("n_bytes", models.BigIntegerField(default=0)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("lake", "db"), name="drill_one_proof_a_database"
                    )
                ],
            },
        ),
    ]
