"""Gives the tables of the backup engine their app: `act`, the label that they were made under."""

from django.apps import AppConfig


class BackupConfig(AppConfig):
    """Owns backups, probes, fences, holds and savings; the area registers the rest."""

    name = "lifecycle.backup"
    label = "act"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Acting on data"
