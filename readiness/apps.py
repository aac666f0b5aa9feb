"""Registers the room of ready partitions with the platform: its pages, its run, its scope."""

from django.apps import AppConfig


class ReadinessConfig(AppConfig):
    """The room of ready partitions."""

    name = "readiness"
    label = "readiness"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register what this room adds; imported here, because models must be loaded first."""
        from portal.access.scopes import Scope, register_scope
        from readiness.selectors import numbers
        from readiness.services import look_kind
        from readiness.ui import nav

        look_kind.register_look_kind()
        nav.register_pages()
        numbers.register_gauges()
        register_scope(Scope("readiness", "Say which partitions are ready to be read."))
