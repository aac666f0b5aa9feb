"""The notices app of the platform."""

from django.apps import AppConfig


class NoticesConfig(AppConfig):
    """Registers the app under the label `notices`."""

    name = "portal.notices"
    label = "notices"
