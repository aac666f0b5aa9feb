"""Renames reasons and path exceptions to the glossary's names."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Rename a table and columns; no row changes."""

    dependencies = [("lifecycle", "0002_due_days")]

    operations = [
        migrations.RenameModel("PathWaiver", "PathException"),
        migrations.RenameField("pathexception", "reason", "rule"),
        migrations.RenameField("pathexception", "why", "justification"),
        migrations.AlterField(
            "pathexception",
            "request",
            models.OneToOneField(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="path_exception",
                to="lifecycle.policyrequest",
            ),
        ),
        migrations.RenameField("relocationmove", "why", "left_out_reason"),
        migrations.RenameField("restoretest", "why", "reason"),
    ]
