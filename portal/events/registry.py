"""Registry of subscribers to events, and of what reads missed events again.

A subscriber is called inside the transaction that moves the position: it writes rows (a run, a
refresh request), never touches the network, and is safe to call twice with the same event.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from portal.events.messages import LakeEvent


@dataclass(frozen=True, slots=True)
class Missed:
    """What must be read again; `db` empty means the whole lake, `table` empty the database."""

    lake: str
    db: str
    table: str
    reason: str


@dataclass(frozen=True, slots=True)
class Subscriber:
    """A name, the event types it wants (None = all), and what it does with an event and a gap."""

    name: str
    types: frozenset[str] | None
    handle: Callable[[LakeEvent, datetime], None] | None
    rescan: Callable[[Missed, datetime], None] | None = None
    handle_many: Callable[[Sequence[LakeEvent], datetime], None] | None = None
    """Does the same for many at once; should it raise, they are handed over one by one."""

    def take(self, events: Sequence[LakeEvent], now: datetime) -> None:
        """Handle many, in their order."""
        if self.handle_many is not None:
            self.handle_many(events, now)
        elif self.handle is not None:
            for event in events:
                self.handle(event, now)

    def wants(self, event: LakeEvent) -> bool:
        """Whether the event is of a type it asked for."""
        return self.handle is not None and (self.types is None or event.type in self.types)


_subscribers: dict[str, Subscriber] = {}


def subscribe(subscriber: Subscriber) -> None:
    """Add a subscriber; subscribing a name again replaces it."""
    _subscribers[subscriber.name] = subscriber


def subscribers() -> list[Subscriber]:
    """Return every subscriber, by name."""
    return [_subscribers[name] for name in sorted(_subscribers)]


def unsubscribe(name: str) -> None:
    """Take a subscriber away; an unknown name is no error."""
    _subscribers.pop(name, None)
