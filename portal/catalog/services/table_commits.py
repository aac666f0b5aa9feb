"""Tells those who follow tables that one was written to, where no event of the metastore says so.

Areas that follow tables register; those that learn of a write by another way (a scheduler's report,
a look at a table's timeline) tell it here. Told twice it does no harm.
"""

from collections.abc import Callable, Collection
from datetime import datetime

Listener = Callable[[str, Collection[tuple[str, str]], datetime], None]
"""Takes a lake, and tables of it as database and name; writes rows only."""
_listeners: dict[str, Listener] = {}


def register_commit_listener(name: str, listener: Listener) -> None:
    """Add who follows tables; registering a name again replaces it."""
    _listeners[name] = listener


def commits_noticed(lake: str, tables: Collection[tuple[str, str]], *, now: datetime) -> None:
    """Tell all who follow tables that these may have a new commit."""
    for listener in _listeners.values():
        listener(lake, tables, now)
