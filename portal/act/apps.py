"""Registers the act app: backups, probes, fences and holds."""

from django.apps import AppConfig


class ActConfig(AppConfig):
    """The portal's side of the act protocol."""

    name = "portal.act"
    label = "act"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Acting on data"

    def ready(self) -> None:
        """Keep backups for longer by the time of a press of the red button."""
        from portal.act.services.releasing import backups_keep_longer
        from portal.safety.release import register_release_hook

        register_release_hook(backups_keep_longer)
