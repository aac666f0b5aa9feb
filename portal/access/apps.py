"""The access app of the platform."""

from django.apps import AppConfig


class AccessConfig(AppConfig):
    """Registers the app under the label `access`."""

    name = "portal.access"
    label = "access"
