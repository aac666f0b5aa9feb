"""Registers the act app: backups, holds and the red button."""

from django.apps import AppConfig


class ActConfig(AppConfig):
    """The portal's side of the act protocol."""

    name = "portal.act"
    label = "act"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Acting on data"

    def ready(self) -> None:
        """Press the red button whenever a run says that data is in danger."""
        from portal.act.services.red_button import red_button_on_danger
        from portal.runs.hooks import register_safety_hook

        register_safety_hook(red_button_on_danger)
