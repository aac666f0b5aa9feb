"""Registers search with the platform: its tick, and what the platform finds itself."""

from portal.search.registry import ObjectPage, register_object_page
from portal.search.selectors.objects import databases_seen, runs_seen, tables_seen
from portal.search.selectors.platform import register_sources
from portal.search.services.ticks import register_ticks


def register() -> None:
    """Add what search offers."""
    register_ticks()
    register_sources()
    register_object_page(
        ObjectPage("ui:table", lambda key: "{db}.{table}".format(**key), tables_seen)
    )
    register_object_page(
        ObjectPage("ui:database", lambda key: f"Database {key['db']}", databases_seen)
    )
    register_object_page(ObjectPage("ui:run", lambda key: f"Run {key['run_id'][:8]}", runs_seen))
