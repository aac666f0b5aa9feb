"""Adds when a mail's one-click link was used, so that it works once."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Add a column that is empty for every mail."""

    dependencies = [("notices", "0002_muted_mails")]

    operations = [
        migrations.AddField(
            model_name="notice",
            name="muted_at",
            field=models.DateTimeField(
                help_text="When its one-click link turned off mails of its kind.", null=True
            ),
        ),
    ]
