"""Where the kit and the platform's own pages join the site."""

from django.apps import AppConfig
from django.core.checks import Tags, register


class UiConfig(AppConfig):
    """The kit (`label ui`)."""

    name = "portal.ui"
    label = "ui"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the platform's own pages, and the checks of its database."""
        from portal.access.models import STAFF
        from portal.access.registry import Page, register_home_card, register_page
        from portal.access.scopes import METRICS_SCOPE, Scope, register_scope
        from portal.collation import collation_check
        from portal.migration_history import migration_history_check
        from portal.ui.cards import failed_runs_card

        register(collation_check, Tags.database)
        register(migration_history_check, Tags.database)
        register_scope(Scope(METRICS_SCOPE, "Read the gauges of /metrics."))
        for page in (
            Page("", "Home", "ui:home", "home", 0),
            Page("Portal", "Runs", "ui:runs", "player-play", 800),
            Page("Portal", "Audit", "ui:audit", "history", 810),
            Page("Portal", "Mails", "ui:mails", "mail", 815),
            Page("Portal", "People", "ui:people", "users", 812, STAFF),
            Page("Portal", "Service accounts", "ui:owners", "users-group", 813, STAFF),
            Page("Portal", "Emergency stop", "ui:red-button", "hand-stop", 820),
            Page("Portal", "Health", "ui:health", "heartbeat", 825, STAFF),
            Page("Portal", "API", "ui:api", "api", 830),
            Page("Portal", "API tokens", "ui:tokens", "key", 831),
        ):
            register_page(page)
        register_home_card(failed_runs_card)
