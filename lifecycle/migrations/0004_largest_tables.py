"""Adds the order of tables by size, for the picture of the largest."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Add an index."""

    dependencies = [("lifecycle", "0003_reasons_and_path_exceptions")]

    operations = [
        migrations.AddIndex(
            "tablefinding",
            models.Index(fields=["generation", "n_bytes", "id"], name="table_finding_largest"),
        ),
    ]
