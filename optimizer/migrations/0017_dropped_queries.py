from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("optimizer", "0016_trial"),
    ]

    operations = [
        migrations.AddField(
            model_name="queryday",
            name="n_dropped",
            field=models.BigIntegerField(
                default=0, help_text="that the engine had no room to keep"
            ),
        ),
    ]
