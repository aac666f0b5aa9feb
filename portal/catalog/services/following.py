"""Hears of commits of tables, by the metastore or otherwise, and says when a run is due."""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F
from django.db.models.functions import Coalesce, Greatest, Least

from portal.catalog.services.table_commits import register_commit_listener
from portal.events.messages import LakeEvent
from portal.events.registry import Missed, Subscriber, subscribe

_TYPES = frozenset({"ALTER_TABLE", "ALTER_PARTITION", "ADD_PARTITION", "INSERT", "CREATE_TABLE"})


@dataclass(frozen=True, slots=True)
class Follower:
    """Who follows tables: by name, what it does with commits, and with events that were missed."""

    name: str
    hear: Callable[[str, Collection[tuple[str, str]], datetime], None]
    """Takes a lake and tables of it that may have a new commit; the same twice does no harm."""
    missed: Callable[[Missed, datetime], None]
    """Takes as changed whatever may have changed."""

    def on_event(self, event: LakeEvent, now: datetime) -> None:
        """Take one event in."""
        self.on_events([event], now)

    def on_events(self, events: Sequence[LakeEvent], now: datetime) -> None:
        """Take many events in, each table of a lake once."""
        of_lake: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
        for event in events:
            of_lake[event.lake].add((event.db, event.table))
        for lake, tables in of_lake.items():
            self.hear(lake, tables, now)

    def register(self) -> None:
        """Have it told of every commit that the portal hears of."""
        subscribe(Subscriber(self.name, _TYPES, self.on_event, self.missed, self.on_events))
        register_commit_listener(self.name, self.hear)


def soon(now: datetime) -> Least:
    """Return when a row is due after a commit: now, but not before its pause is over.

    The row has `next_at`, when it is due anyway, and `earliest_at`, when its pause ends.
    """
    return Least(F("next_at"), Greatest(now, Coalesce(F("earliest_at"), now)))
