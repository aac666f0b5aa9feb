"""Registers the room of ready partitions with the platform: what a program's token may do there."""

from django.apps import AppConfig


class ReadinessConfig(AppConfig):
    """The room of ready partitions."""

    name = "readiness"
    label = "readiness"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register what this room adds; imported here, because models must be loaded first."""
        from portal.access.scopes import Scope, register_scope

        register_scope(Scope("readiness", "Say which partitions are ready to be read."))
