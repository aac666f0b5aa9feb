"""Registers the refresh room with the platform: its event subscriber, pages and numbers."""

from django.apps import AppConfig


class RefreshConfig(AppConfig):
    """The refresh room."""

    name = "refresh"
    label = "refresh"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register what this room adds; imported here, because models must be loaded first."""
        from portal.access.scopes import Scope, register_scope
        from refresh.selectors import numbers
        from refresh.services import hearing
        from refresh.ui import cluster_nav, nav

        hearing.register_subscriber()
        nav.register_pages()
        cluster_nav.register_pages()
        numbers.register_gauges()
        register_scope(Scope("refresh", "Tell what a job has written, and wait until it is seen."))
