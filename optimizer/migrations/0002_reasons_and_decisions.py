"""Renames what was decided and the reason of a policy to the glossary's names."""

from django.db import migrations


class Migration(migrations.Migration):
    """Rename columns; no row changes."""

    dependencies = [("optimizer", "0001_squashed")]

    operations = [
        migrations.RenameField("icebergtable", "verdict", "decision"),
        migrations.RenameField("huditable", "verdict", "decision"),
        migrations.RenameField("huditable", "verdicts", "decisions"),
        migrations.RenameField("policyversion", "why", "reason"),
    ]
