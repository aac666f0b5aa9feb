"""Registers the events app, the repair of zombie drops among its subscribers."""

from django.apps import AppConfig


class EventsConfig(AppConfig):
    """Registers the app under the label `events`."""

    name = "portal.events"
    label = "events"

    def ready(self) -> None:
        """Bring in the platform's own subscriber; rooms bring theirs in their own `ready`."""
        from portal.events import repair

        repair.register()
