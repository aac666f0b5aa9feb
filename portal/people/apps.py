"""The people app of the platform."""

from django.apps import AppConfig


class PeopleConfig(AppConfig):
    """Registers the app under the label `people`."""

    name = "portal.people"
    label = "people"
    default_auto_field = "django.db.models.BigAutoField"
