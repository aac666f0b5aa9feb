"""Registers the act app: backups, holds and the red button."""

from django.apps import AppConfig


class ActConfig(AppConfig):
    """The portal's side of the act protocol."""

    name = "portal.act"
    label = "act"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Acting on data"
