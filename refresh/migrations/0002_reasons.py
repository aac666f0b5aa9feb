"""Renames what says why, and when a front end diverged, to the glossary's names."""

from django.db import migrations


class Migration(migrations.Migration):
    """Rename columns; no row changes."""

    dependencies = [("refresh", "0001_squashed")]

    operations = [
        migrations.RenameField("refreshtarget", "why", "reason"),
        migrations.RenameField("targetfrontend", "why", "reason"),
        migrations.RenameField("targetfrontend", "disproof_at", "diverged_at"),
        migrations.RenameField("targetfrontend", "disproof_why", "divergence_reason"),
    ]
