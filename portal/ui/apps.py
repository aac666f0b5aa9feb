"""Where the kit and the platform's own pages join the site."""

from django.apps import AppConfig


class UiConfig(AppConfig):
    """The kit (`label ui`)."""

    name = "portal.ui"
    label = "ui"
    default_auto_field = "django.db.models.BigAutoField"
