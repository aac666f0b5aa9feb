from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0003_application_id"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="submission",
            field=models.JSONField(null=True),
        ),
    ]
