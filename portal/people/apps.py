"""The people app of the platform."""

from django.apps import AppConfig


class PeopleConfig(AppConfig):
    """Registers the app under the label `people`."""

    name = "portal.people"
    label = "people"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the numbers about API tokens."""
        from portal.people.token_gauges import register_token_gauges

        register_token_gauges()
