"""The tables of the app `audit` and the head of the chain, in place of the steps that made them (ADR 0035)."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def add_head(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create the row that is locked to append; writers only ever lock it."""
    apps.get_model("audit", "AuditHead").objects.get_or_create(name="main")


class Migration(migrations.Migration):
    replaces = [("audit", "0001_initial"), ("audit", "0002_head"), ("audit", "0003_by_lake")]

    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="AuditEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("seq", models.BigIntegerField(unique=True)),
                ("at", models.DateTimeField()),
                ("action", models.CharField(max_length=64)),
                ("actor", models.CharField(max_length=150)),
                ("lake", models.CharField(max_length=32)),
                ("object_type", models.CharField(max_length=64)),
                ("object_id", models.CharField(max_length=300)),
                ("data", models.JSONField(default=dict)),
                ("previous_hash", models.CharField(max_length=64)),
                ("hash", models.CharField(max_length=64)),
            ],
            options={
                "ordering": ["-seq"],
                "indexes": [
                    models.Index(
                        fields=["lake", "object_type", "object_id"], name="audit_by_object"
                    ),
                    models.Index(fields=["lake", "action", "seq"], name="audit_by_action"),
                    models.Index(fields=["lake", "actor", "seq"], name="audit_by_actor"),
                    models.Index(fields=["lake", "seq"], name="audit_by_lake"),
                ],
            },
        ),
        migrations.CreateModel(
            name="AuditHead",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=16, unique=True)),
                ("seq", models.BigIntegerField(default=0)),
                (
                    "hash",
                    models.CharField(
                        default="0000000000000000000000000000000000000000000000000000000000000000",
                        max_length=64,
                    ),
                ),
            ],
        ),
        migrations.RunPython(add_head, migrations.RunPython.noop),
    ]
