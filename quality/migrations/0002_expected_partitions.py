"""Renames how a freshness rule reaches its expected partitions."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Rename in the state alone; no column changes."""

    dependencies = [("readiness", "0001_squashed")]

    operations = [
        migrations.AlterField(
            "expectedpartition",
            "rule",
            models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="expected",
                to="readiness.freshnessrule",
            ),
        ),
    ]
