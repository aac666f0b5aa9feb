"""Registers the events app."""

from django.apps import AppConfig


class EventsConfig(AppConfig):
    """Registers the app under the label `events`; areas bring subscribers in their own `ready`."""

    name = "portal.events"
    label = "events"
