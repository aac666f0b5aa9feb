"""The tables of the app `optimizer`, in place of the steps that made them (ADR 0035)."""

import uuid

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("optimizer", "0001_first"),
        ("optimizer", "0002_policies"),
        ("optimizer", "0003_task_ended"),
        ("optimizer", "0004_removal_plans"),
        ("optimizer", "0005_queue_index"),
        ("optimizer", "0006_waiting_for_others"),
        ("optimizer", "0007_old_commits"),
        ("optimizer", "0008_old_writes"),
        ("optimizer", "0009_hudi_tables"),
        ("optimizer", "0010_policies_of_hudi"),
        ("optimizer", "0011_hudi_tasks"),
        ("optimizer", "0012_hudi_alarms"),
        ("optimizer", "0013_hudi_resident"),
        ("optimizer", "0014_quarantine"),
        ("optimizer", "0015_hudi_recovery"),
        ("optimizer", "0016_task_kinds"),
        ("optimizer", "0017_plain_words"),
        ("optimizer", "0018_plain_model_names"),
        ("optimizer", "0019_plain_field_names"),
    ]

    initial = True

    dependencies = [
        ("approvals", "0001_squashed"),
    ]

    operations = [
        migrations.CreateModel(
            name="HudiTable",
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
                ("location", models.TextField()),
                ("owner", models.CharField(blank=True, max_length=128)),
                ("is_deleted", models.BooleanField(default=False)),
                ("deleted_at", models.DateTimeField(null=True)),
                (
                    "event_at",
                    models.DateTimeField(help_text="when the portal last received a change"),
                ),
                ("inspected_at", models.DateTimeField(null=True)),
                ("inspect_due_at", models.DateTimeField(null=True)),
                (
                    "inspection_error",
                    models.TextField(blank=True, help_text="why the last inspection failed"),
                ),
                (
                    "health",
                    models.FloatField(help_text="0 to 100; null until it was inspected", null=True),
                ),
                ("deductions", models.JSONField(default=list, help_text="score deductions")),
                ("decided_at", models.DateTimeField(null=True)),
                (
                    "verdict",
                    models.TextField(
                        blank=True, help_text="in words: what is done, or why nothing is"
                    ),
                ),
                ("is_paused", models.BooleanField(default=False)),
                ("paused_by", models.CharField(blank=True, max_length=150)),
                ("paused_at", models.DateTimeField(null=True)),
                ("paused_reason", models.TextField(blank=True)),
                ("place", models.CharField(help_text="sha256 of the location", max_length=64)),
                (
                    "properties",
                    models.JSONField(
                        default=dict, help_text="of the metastore's, those that say who does what"
                    ),
                ),
                (
                    "include_logs",
                    models.BooleanField(
                        default=False, help_text="the next inspection reads its log files"
                    ),
                ),
                (
                    "wants_keys",
                    models.BooleanField(
                        default=False, help_text="the next inspection compares its keys"
                    ),
                ),
                ("logs_read_at", models.DateTimeField(null=True)),
                ("keys_read_at", models.DateTimeField(null=True)),
                (
                    "unseen",
                    models.JSONField(
                        default=list, help_text="in words: what the last inspection cannot tell"
                    ),
                ),
                ("table_type", models.CharField(blank=True, max_length=16)),
                (
                    "version",
                    models.PositiveSmallIntegerField(help_text="hoodie.table.version", null=True),
                ),
                (
                    "findings",
                    models.JSONField(default=list, help_text="what is wrong, the worst first"),
                ),
                ("n_critical", models.PositiveIntegerField(default=0)),
                ("n_warnings", models.PositiveIntegerField(default=0)),
                (
                    "n_pending",
                    models.PositiveIntegerField(help_text="plans that are not executed", null=True),
                ),
                ("n_stuck", models.PositiveIntegerField(null=True)),
                ("n_file_groups", models.BigIntegerField(null=True)),
                ("base_bytes", models.BigIntegerField(null=True)),
                ("log_bytes", models.BigIntegerField(null=True)),
                (
                    "written_at",
                    models.DateTimeField(help_text="its newest completed write", null=True),
                ),
                (
                    "stale_since",
                    models.DateTimeField(
                        help_text="the oldest write that its read-optimized view lacks", null=True
                    ),
                ),
                (
                    "verdicts",
                    models.JSONField(
                        default=list, help_text="of each step of each service, and why"
                    ),
                ),
                (
                    "is_continuous",
                    models.BooleanField(
                        default=False,
                        help_text="a service shall stay with it, by its policy as last decided on",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["lake", "is_deleted", "health"], name="optimizer_hudi_by_health"
                    ),
                    models.Index(fields=["inspect_due_at"], name="optimizer_hudi_look_due"),
                    models.Index(fields=["lake", "is_continuous"], name="optimizer_hudi_resident"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("lake", "db", "table", "place"), name="optimizer_hudi_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="IcebergTable",
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
                ("is_deleted", models.BooleanField(default=False)),
                ("deleted_at", models.DateTimeField(null=True)),
                (
                    "event_at",
                    models.DateTimeField(help_text="when the portal last received a change"),
                ),
                ("inspected_at", models.DateTimeField(null=True)),
                (
                    "inspection_error",
                    models.TextField(blank=True, help_text="why the last inspection failed"),
                ),
                (
                    "health",
                    models.FloatField(help_text="0 to 100; null until it was inspected", null=True),
                ),
                ("deductions", models.JSONField(default=list, help_text="score deductions")),
                ("decided_at", models.DateTimeField(null=True)),
                (
                    "verdict",
                    models.TextField(
                        blank=True, help_text="in words: what is done, or why nothing is"
                    ),
                ),
                ("is_paused", models.BooleanField(default=False)),
                ("paused_by", models.CharField(blank=True, max_length=150)),
                ("paused_at", models.DateTimeField(null=True)),
                ("paused_reason", models.TextField(blank=True)),
                ("uuid", models.CharField(max_length=36)),
                ("location", models.TextField(blank=True)),
                ("metadata_location", models.TextField(blank=True)),
                (
                    "snapshot_id",
                    models.BigIntegerField(help_text="null: an empty table", null=True),
                ),
                ("format_version", models.PositiveSmallIntegerField(null=True)),
                (
                    "committed_at",
                    models.DateTimeField(help_text="when its snapshot was committed", null=True),
                ),
                ("n_files", models.BigIntegerField(null=True)),
                ("n_bytes", models.BigIntegerField(null=True)),
                ("n_rows", models.BigIntegerField(null=True)),
                ("n_delete_files", models.BigIntegerField(null=True)),
                ("looked_snapshot_id", models.BigIntegerField(null=True)),
                (
                    "inspect_due_at",
                    models.DateTimeField(
                        help_text="null: nothing new since the last inspection", null=True
                    ),
                ),
                ("n_manifests", models.BigIntegerField(null=True)),
                ("n_snapshots", models.BigIntegerField(null=True)),
                ("n_partitions", models.BigIntegerField(null=True)),
                (
                    "columns",
                    models.JSONField(default=dict, help_text="name -> type, top level only"),
                ),
                ("partition_spec", models.TextField(blank=True)),
                ("small_bytes", models.BigIntegerField(null=True)),
                ("n_small", models.BigIntegerField(null=True)),
                (
                    "uses_outside",
                    models.BooleanField(
                        default=False,
                        help_text="an inspection found files outside of its own places: another table's, perhaps",
                    ),
                ),
                (
                    "score",
                    models.FloatField(help_text="gain over cost; the queue's order", null=True),
                ),
                (
                    "waits_since",
                    models.DateTimeField(
                        help_text="since when some of it is left for later because of other writers",
                        null=True,
                    ),
                ),
                (
                    "decide_again_at",
                    models.DateTimeField(
                        help_text="when the first of that can be removed", null=True
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["lake", "is_deleted", "health"], name="optimizer_by_health"
                    ),
                    models.Index(fields=["inspect_due_at"], name="optimizer_look_due"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("lake", "db", "table", "uuid"), name="optimizer_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="OptimizeTask",
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
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tasks",
                        to="optimizer.icebergtable",
                    ),
                ),
                (
                    "hudi",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tasks",
                        to="optimizer.huditable",
                    ),
                ),
                (
                    "kind",
                    models.CharField(help_text="one of its table's `task_kinds`", max_length=32),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("WAITING", "WAITING"),
                            ("HELD", "HELD"),
                            ("TO_APPROVE", "TO_APPROVE"),
                            ("SENT", "SENT"),
                            ("DONE", "DONE"),
                            ("PARTIAL", "PARTIAL"),
                            ("NOTHING", "NOTHING"),
                            ("FAILED", "FAILED"),
                            ("ABANDONED", "ABANDONED"),
                            ("CANCELLED", "CANCELLED"),
                        ],
                        default="WAITING",
                        max_length=12,
                    ),
                ),
                ("is_open", models.BooleanField(default=True, null=True)),
                ("reason", models.TextField(help_text="reason")),
                ("waits_for", models.TextField(blank=True, help_text="why it is not begun yet")),
                (
                    "not_before",
                    models.DateTimeField(
                        help_text="it waits for other writers to pause", null=True
                    ),
                ),
                ("score", models.FloatField(default=0)),
                (
                    "risk",
                    models.FloatField(
                        default=0, help_text="the chance to lose it to another writer"
                    ),
                ),
                (
                    "is_cold",
                    models.BooleanField(default=False, help_text="nobody wrote there for a day"),
                ),
                (
                    "group_seconds",
                    models.FloatField(help_text="the longest of one commit; null: any", null=True),
                ),
                ("partitions", models.JSONField(help_text="null: all", null=True)),
                (
                    "instants",
                    models.JSONField(
                        help_text="of a Hudi table's timeline; null: all that are pending",
                        null=True,
                    ),
                ),
                (
                    "target_bytes",
                    models.BigIntegerField(help_text="null: it writes none of a size", null=True),
                ),
                ("layout", models.TextField(blank=True)),
                (
                    "policy_versions",
                    models.JSONField(default=list, help_text="the policies that decided it"),
                ),
                (
                    "estimate",
                    models.JSONField(default=dict, help_text="files, bytes, GB-hours, seconds"),
                ),
                (
                    "snapshot_id",
                    models.BigIntegerField(help_text="what it was decided at", null=True),
                ),
                (
                    "requested_by",
                    models.CharField(blank=True, help_text="empty: by itself", max_length=150),
                ),
                ("created_at", models.DateTimeField()),
                (
                    "event_at",
                    models.DateTimeField(help_text="when its first commit was received", null=True),
                ),
                ("started_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("run", models.UUIDField(null=True)),
                ("outcome_code", models.CharField(blank=True, max_length=64)),
                ("outcome", models.TextField(blank=True, help_text="in words")),
                ("before", models.JSONField(default=dict)),
                ("after", models.JSONField(default=dict)),
                ("commits", models.JSONField(default=list)),
                ("n_conflicts", models.PositiveIntegerField(default=0)),
                ("n_tries", models.PositiveIntegerField(default=0)),
                ("seconds", models.FloatField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["state", "-score", "id", "table", "hudi"], name="optimizer_queue"
                    ),
                    models.Index(fields=["table", "-created_at"], name="optimizer_task_history"),
                    models.Index(fields=["hudi", "-created_at"], name="optimizer_hudi_history"),
                    models.Index(fields=["run"], name="optimizer_task_run"),
                    models.Index(fields=["ended_at"], name="optimizer_task_ended"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("table", "kind", "is_open"), name="optimizer_task_open_once"
                    ),
                    models.UniqueConstraint(
                        fields=("hudi", "kind", "is_open"), name="optimizer_hudi_open_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("hudi__isnull", True), ("table__isnull", False)),
                            models.Q(("hudi__isnull", False), ("table__isnull", True)),
                            _connector="OR",
                        ),
                        name="optimizer_task_one_table",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("ended_at__isnull", False),
                            models.Q(
                                (
                                    "state__in",
                                    [
                                        "ABANDONED",
                                        "CANCELLED",
                                        "DONE",
                                        "FAILED",
                                        "NOTHING",
                                        "PARTIAL",
                                    ],
                                ),
                                _negated=True,
                            ),
                            _connector="OR",
                        ),
                        name="optimizer_final_has_end",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="HudiAlarm",
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
                        related_name="alarms",
                        to="optimizer.huditable",
                    ),
                ),
                ("code", models.CharField(help_text="of the finding", max_length=32)),
                ("is_open", models.BooleanField(default=True, null=True)),
                ("severity", models.CharField(max_length=16)),
                ("words", models.TextField()),
                ("opened_at", models.DateTimeField()),
                ("closed_at", models.DateTimeField(null=True)),
                (
                    "notified_at",
                    models.DateTimeField(help_text="when people were written to", null=True),
                ),
                ("resolved_notified_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["is_open", "code"], name="optimizer_hudi_alarm_open")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("table", "code", "is_open"), name="optimizer_hudi_alarm_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="StoredInspection",
            fields=[
                (
                    "table",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="stored_look",
                        serialize=False,
                        to="optimizer.huditable",
                    ),
                ),
                ("at", models.DateTimeField()),
                ("packed", models.BinaryField(help_text="the inspection's JSON, deflated")),
            ],
        ),
        migrations.CreateModel(
            name="HudiPoint",
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
                        related_name="trend",
                        to="optimizer.huditable",
                    ),
                ),
                ("at", models.DateTimeField()),
                ("health", models.FloatField(null=True)),
                ("stale_seconds", models.FloatField(default=0)),
                (
                    "n_uncompacted",
                    models.PositiveIntegerField(default=0, help_text="delta commits only in logs"),
                ),
                ("n_pending", models.PositiveIntegerField(default=0)),
                ("log_bytes", models.BigIntegerField(default=0)),
                ("base_bytes", models.BigIntegerField(default=0)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("table", "at"), name="optimizer_hudi_point_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Commit",
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
                        related_name="commits",
                        to="optimizer.icebergtable",
                    ),
                ),
                ("snapshot_id", models.BigIntegerField()),
                ("parent_id", models.BigIntegerField(null=True)),
                ("sequence", models.BigIntegerField(null=True)),
                ("at", models.DateTimeField()),
                ("event_at", models.DateTimeField()),
                (
                    "operation",
                    models.CharField(blank=True, help_text="empty where not told", max_length=16),
                ),
                ("is_ours", models.BooleanField(default=False)),
                ("n_added", models.BigIntegerField(default=0)),
                ("n_removed", models.BigIntegerField(default=0)),
                ("bytes_added", models.BigIntegerField(default=0)),
                ("bytes_removed", models.BigIntegerField(default=0)),
                ("n_deletes_added", models.BigIntegerField(default=0)),
                ("n_changed_partitions", models.BigIntegerField(null=True)),
                ("source", models.CharField(help_text="event, poll, report or look", max_length=8)),
                (
                    "report",
                    models.JSONField(
                        default=dict, help_text="a writer's own report: attempts, duration"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["table", "at"], name="optimizer_commit_at"),
                    models.Index(fields=["at"], name="optimizer_commit_old"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("table", "snapshot_id"), name="optimizer_commit_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="LayoutWrite",
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
                        related_name="layouts",
                        to="optimizer.icebergtable",
                    ),
                ),
                ("write_id", models.CharField(max_length=64)),
                (
                    "layout",
                    models.TextField(help_text="hilbert(a,b), or empty for a plain bin-pack"),
                ),
                (
                    "boundaries",
                    models.JSONField(
                        help_text="what the ids of its columns were cut at", null=True
                    ),
                ),
                ("partition", models.TextField(blank=True)),
                ("snapshot_id", models.BigIntegerField()),
                ("at", models.DateTimeField()),
                (
                    "searched_at",
                    models.DateTimeField(
                        help_text="when an inspection last searched for files of it", null=True
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("table", "write_id"), name="optimizer_layout_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="PartitionHealth",
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
                        related_name="partitions",
                        to="optimizer.icebergtable",
                    ),
                ),
                ("snapshot_id", models.BigIntegerField()),
                (
                    "digest",
                    models.CharField(help_text="sha256 of spec and partition", max_length=64),
                ),
                (
                    "partition",
                    models.TextField(blank=True, help_text="empty: an unpartitioned table"),
                ),
                ("spec_id", models.IntegerField()),
                ("n_files", models.BigIntegerField()),
                ("n_bytes", models.BigIntegerField()),
                ("n_rows", models.BigIntegerField()),
                ("n_small", models.BigIntegerField()),
                ("small_bytes", models.BigIntegerField()),
                ("n_big", models.BigIntegerField()),
                ("two_smallest_bytes", models.BigIntegerField()),
                ("n_pos_delete_files", models.BigIntegerField()),
                ("n_pos_deleted_rows", models.BigIntegerField()),
                ("n_eq_delete_files", models.BigIntegerField()),
                ("n_eq_deleted_rows", models.BigIntegerField()),
                ("n_dvs", models.BigIntegerField()),
                ("squared_error", models.FloatField()),
                ("n_laid_out", models.BigIntegerField()),
                ("laid_out_bytes", models.BigIntegerField()),
                ("newest_commit_at", models.DateTimeField(null=True)),
                ("health", models.FloatField()),
                ("deductions", models.JSONField(default=list)),
                (
                    "sizes",
                    models.JSONField(
                        default=list, help_text="files by size: counts of the buckets"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["table", "snapshot_id", "health"], name="optimizer_worst")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("table", "snapshot_id", "digest"), name="optimizer_partition_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="HealthPoint",
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
                        related_name="trend",
                        to="optimizer.icebergtable",
                    ),
                ),
                ("at", models.DateTimeField()),
                ("snapshot_id", models.BigIntegerField(null=True)),
                ("health", models.FloatField()),
                ("n_files", models.BigIntegerField()),
                ("n_small", models.BigIntegerField()),
                ("n_bytes", models.BigIntegerField()),
                ("n_delete_files", models.BigIntegerField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("table", "at"), name="optimizer_point_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="RemovalPlan",
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
                (
                    "table",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="removals",
                        to="optimizer.icebergtable",
                    ),
                ),
                (
                    "hudi",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="removals",
                        to="optimizer.huditable",
                    ),
                ),
                (
                    "task",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="removals",
                        to="optimizer.optimizetask",
                    ),
                ),
                ("kind", models.CharField(max_length=32)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("PENDING", "PENDING"),
                            ("APPROVED", "APPROVED"),
                            ("RUNNING", "RUNNING"),
                            ("DONE", "DONE"),
                            ("PARTIAL", "PARTIAL"),
                            ("NOTHING", "NOTHING"),
                            ("FAILED", "FAILED"),
                            ("REJECTED", "REJECTED"),
                            ("WITHDRAWN", "WITHDRAWN"),
                            ("LAPSED", "LAPSED"),
                        ],
                        default="PENDING",
                        max_length=12,
                    ),
                ),
                ("digest", models.CharField(help_text="sha256 of the list", max_length=64)),
                ("items_uri", models.TextField(blank=True)),
                (
                    "snapshot_id",
                    models.BigIntegerField(help_text="the table's, when it was created", null=True),
                ),
                (
                    "n_items",
                    models.BigIntegerField(help_text="snapshots of an expiry, files of orphans"),
                ),
                ("n_files", models.BigIntegerField()),
                ("n_bytes", models.BigIntegerField()),
                (
                    "facts",
                    models.JSONField(
                        default=dict, help_text="counts by kind, what stays, first names"
                    ),
                ),
                ("requesters", models.JSONField(default=list, help_text="who may not decide")),
                ("run", models.UUIDField(help_text="the run that removes", null=True)),
                ("ended_by", models.CharField(blank=True, max_length=150)),
                ("outcome", models.TextField(blank=True, help_text="in words")),
                (
                    "removed",
                    models.JSONField(default=dict, help_text="counts and bytes of what went"),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["state", "created_at"], name="optimizer_removal_state"),
                    models.Index(fields=["table", "-created_at"], name="optimizer_removal_of"),
                    models.Index(fields=["hudi", "-created_at"], name="optimizer_removal_hudi"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("hudi__isnull", True), ("table__isnull", False)),
                            models.Q(("hudi__isnull", False), ("table__isnull", True)),
                            _connector="OR",
                        ),
                        name="optimizer_removal_one_table",
                    )
                ],
            },
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
                (
                    "plan",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="quarantine",
                        to="optimizer.removalplan",
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
                ("n_files", models.BigIntegerField(help_text="that are there now")),
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
            ],
            options={
                "indexes": [
                    models.Index(fields=["state", "delete_after"], name="optimizer_quarantine_due")
                ],
            },
        ),
        migrations.CreateModel(
            name="PolicyVersion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("lake", models.CharField(max_length=32)),
                (
                    "format",
                    models.CharField(
                        default="iceberg", help_text="of the tables that it is about", max_length=16
                    ),
                ),
                ("scope", models.CharField(max_length=385)),
                ("version", models.PositiveIntegerField()),
                ("is_current", models.BooleanField(default=True, null=True)),
                (
                    "values",
                    models.JSONField(
                        default=dict, help_text="only the fields that this scope names"
                    ),
                ),
                ("by", models.CharField(max_length=150)),
                ("at", models.DateTimeField()),
                ("why", models.TextField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("lake", "format", "scope", "version"),
                        name="optimizer_policy_version_once",
                    ),
                    models.UniqueConstraint(
                        fields=("lake", "format", "scope", "is_current"),
                        name="optimizer_policy_current_once",
                    ),
                ],
            },
        ),
    ]
