"""Find what was dropped since a scan without reading the lake's whole catalogue of backups."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Index batches by the time of their drop."""

    dependencies = [("act", "0006_savings")]

    operations = [
        migrations.AddIndex(
            model_name="backupbatch",
            index=models.Index(fields=["lake", "dropped_at"], name="act_by_drop"),
        )
    ]
