"""Registers the safety app: the emergency stop of each lake."""

from django.apps import AppConfig


class SafetyConfig(AppConfig):
    """Registers the app under the label `safety`."""

    name = "portal.safety"
    label = "safety"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Safety"

    def ready(self) -> None:
        """Press the emergency stop whenever a run says that data is in danger."""
        from portal.runs.kinds.hooks import register_safety_hook
        from portal.safety.services import emergency_stop_on_danger

        register_safety_hook(emergency_stop_on_danger)
