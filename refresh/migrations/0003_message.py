"""Renames what a statement's end says to the glossary's word."""

from django.db import migrations


class Migration(migrations.Migration):
    """Rename a column; no row changes."""

    dependencies = [("refresh", "0002_reasons")]

    operations = [migrations.RenameField("refresh", "said", "message")]
