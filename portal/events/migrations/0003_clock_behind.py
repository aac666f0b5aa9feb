from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("events", "0002_touches_keep_alterations")]

    operations = [
        migrations.AddField(
            model_name="eventposition",
            name="clock_behind_seconds",
            field=models.PositiveIntegerField(
                default=0,
                help_text="how far the metastore's clock lay behind ours at least, by new events",
            ),
        ),
    ]
