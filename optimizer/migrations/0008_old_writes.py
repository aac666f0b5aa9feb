"""When a write's files were last searched for, so that a write whose files are gone can go too."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("optimizer", "0007_old_commits"),
    ]

    operations = [
        migrations.AddField(
            model_name="layoutwrite",
            name="searched_at",
            field=models.DateTimeField(
                help_text="when a look last searched for files of it", null=True
            ),
        ),
    ]
