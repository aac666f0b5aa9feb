"""Where the kit and the platform's own pages join the site."""

from django.apps import AppConfig
from django.core.checks import Tags, register

from portal.ui.frame.lakes import ObjectLake, register_object_lakes

# What addresses name, and where the lake of each is found.
OBJECT_LAKES = (
    ObjectLake("run_id", "runs.Run"),
    ObjectLake("notice_id", "notices.Notice"),
    ObjectLake("view_id", "catalog.SavedView"),
)


class UiConfig(AppConfig):
    """The kit (`label ui`)."""

    name = "portal.ui"
    label = "ui"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the platform's own pages, and the checks of its servers."""
        from portal.access.registry import register_home_card
        from portal.access.scopes import METRICS_SCOPE, Scope, register_scope
        from portal.collation import collation_check
        from portal.migration_history import migration_history_check
        from portal.servers.checks import register_server_checks
        from portal.ui.cards import failed_runs_card
        from portal.ui.frame.converters import register_converters
        from portal.ui.frame.subject import register_subject_finder
        from portal.ui.menu import register_menu
        from portal.ui.run_pictures import register_run_pictures
        from portal.ui.tables.history import register_history_tab
        from portal.ui.tables.page import stand_where_sent

        register(collation_check, Tags.database)
        register(migration_history_check, Tags.database)
        register_server_checks()
        register_scope(Scope(METRICS_SCOPE, "Read the gauges of /metrics."))
        register_converters()
        register_menu()
        register_object_lakes("ui", *OBJECT_LAKES)
        register_home_card(failed_runs_card)
        register_run_pictures()
        register_history_tab()
        register_subject_finder(stand_where_sent)
