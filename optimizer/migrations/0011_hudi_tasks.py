"""Services of Hudi tables are tasks of the same queue, and removals of the same kind."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("approvals", "0001_initial"),
        ("optimizer", "0010_policies_of_hudi"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="optimizetask",
            name="optimizer_queue",
        ),
        migrations.AddField(
            model_name="optimizetask",
            name="hudi",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="tasks",
                to="optimizer.huditable",
            ),
        ),
        migrations.AddField(
            model_name="optimizetask",
            name="instants",
            field=models.JSONField(
                help_text="of a Hudi table's timeline; null: all that are pending", null=True
            ),
        ),
        migrations.AddField(
            model_name="removalplan",
            name="hudi",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="removals",
                to="optimizer.huditable",
            ),
        ),
        migrations.AlterField(
            model_name="optimizetask",
            name="kind",
            field=models.CharField(
                choices=[
                    (
                        "MINOR",
                        "MINOR",
                    ),
                    (
                        "MAJOR",
                        "MAJOR",
                    ),
                    (
                        "FULL",
                        "FULL",
                    ),
                    (
                        "CLUSTER",
                        "CLUSTER",
                    ),
                    (
                        "DELETES",
                        "DELETES",
                    ),
                    (
                        "MANIFESTS",
                        "MANIFESTS",
                    ),
                    (
                        "EXPIRE",
                        "EXPIRE",
                    ),
                    (
                        "ORPHANS",
                        "ORPHANS",
                    ),
                    (
                        "STATISTICS",
                        "STATISTICS",
                    ),
                    ("HUDI_COMPACTION_SCHEDULE", "HUDI_COMPACTION_SCHEDULE"),
                    ("HUDI_COMPACTION_EXECUTE", "HUDI_COMPACTION_EXECUTE"),
                    ("HUDI_CLUSTERING_SCHEDULE", "HUDI_CLUSTERING_SCHEDULE"),
                    ("HUDI_CLUSTERING_EXECUTE", "HUDI_CLUSTERING_EXECUTE"),
                    ("HUDI_CLEAN_SCHEDULE", "HUDI_CLEAN_SCHEDULE"),
                    ("HUDI_CLEAN_EXECUTE", "HUDI_CLEAN_EXECUTE"),
                    ("HUDI_ROLLBACK_SCHEDULE", "HUDI_ROLLBACK_SCHEDULE"),
                    ("HUDI_ROLLBACK_EXECUTE", "HUDI_ROLLBACK_EXECUTE"),
                    ("HUDI_TTL_SCHEDULE", "HUDI_TTL_SCHEDULE"),
                    ("HUDI_TTL_EXECUTE", "HUDI_TTL_EXECUTE"),
                ],
                max_length=32,
            ),
        ),
        migrations.AlterField(
            model_name="optimizetask",
            name="table",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="tasks",
                to="optimizer.icebergtable",
            ),
        ),
        migrations.AlterField(
            model_name="optimizetask",
            name="target_bytes",
            field=models.BigIntegerField(help_text="null: it writes none of a size", null=True),
        ),
        migrations.AlterField(
            model_name="removalplan",
            name="items_uri",
            field=models.TextField(blank=True),
        ),
        migrations.AlterField(
            model_name="removalplan",
            name="kind",
            field=models.CharField(max_length=32),
        ),
        migrations.AlterField(
            model_name="removalplan",
            name="table",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="removals",
                to="optimizer.icebergtable",
            ),
        ),
        migrations.AddIndex(
            model_name="optimizetask",
            index=models.Index(
                fields=["state", "-score", "id", "table", "hudi"], name="optimizer_queue"
            ),
        ),
        migrations.AddIndex(
            model_name="optimizetask",
            index=models.Index(fields=["hudi", "-noted_at"], name="optimizer_hudi_history"),
        ),
        migrations.AddIndex(
            model_name="removalplan",
            index=models.Index(fields=["hudi", "-created_at"], name="optimizer_removal_hudi"),
        ),
        migrations.AddConstraint(
            model_name="optimizetask",
            constraint=models.UniqueConstraint(
                fields=("hudi", "kind", "is_open"), name="optimizer_hudi_open_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="optimizetask",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("hudi__isnull", True), ("table__isnull", False)),
                    models.Q(("hudi__isnull", False), ("table__isnull", True)),
                    _connector="OR",
                ),
                name="optimizer_task_one_table",
            ),
        ),
        migrations.AddConstraint(
            model_name="removalplan",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("hudi__isnull", True), ("table__isnull", False)),
                    models.Q(("hudi__isnull", False), ("table__isnull", True)),
                    _connector="OR",
                ),
                name="optimizer_removal_one_table",
            ),
        ),
    ]
