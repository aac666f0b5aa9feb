"""Which Hudi tables a service stays with."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("optimizer", "0012_hudi_alarms"),
    ]

    operations = [
        migrations.AddField(
            model_name="huditable",
            name="is_resident",
            field=models.BooleanField(
                default=False,
                help_text="a service shall stay with it, by its policy as last decided on",
            ),
        ),
        migrations.AddIndex(
            model_name="huditable",
            index=models.Index(fields=["lake", "is_resident"], name="optimizer_hudi_resident"),
        ),
    ]
