"""The runs app of the platform."""

from django.apps import AppConfig


class RunsConfig(AppConfig):
    """Registers the app under the label `runs`."""

    name = "portal.runs"
    label = "runs"
