"""Handles metastore events, and events that were missed.

It writes rows only, in the transaction that moves the follower's position: a commit is either
heard with all it means, or still to come.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from optimizer.core.services.maintainers import all_maintainers
from optimizer.discovery.services.poll import poll_missed
from portal.events.messages import LakeEvent
from portal.events.registry import Missed, Subscriber, subscribe

NAME = "optimizer"


def on_event(event: LakeEvent, now: datetime) -> None:
    """Take one event in.

    Raises:
        ValueError, LookupError, TypeError, AttributeError: its message has another form; the
            follower parks the table and has it read again.
    """
    on_events([event], now)


def on_events(events: Sequence[LakeEvent], now: datetime) -> None:
    """Take many events in, in their order: tables, commits, and what is due because of them."""
    of_lake: defaultdict[str, list[LakeEvent]] = defaultdict(list)
    for event in events:
        of_lake[event.lake].append(event)
    for lake, some in of_lake.items():
        for maintainer in all_maintainers():
            maintainer.hear(lake, some, now=now)


def on_missed(missed: Missed, now: datetime) -> None:
    """Have the lake's Iceberg and Hudi tables read again from the metastore's database."""
    poll_missed(missed, now=now)


def register_subscriber() -> None:
    """Tell the follower what the room wants of it."""
    types = frozenset[str]().union(*(one.event_types for one in all_maintainers()))
    subscribe(Subscriber(NAME, types, on_event, on_missed, on_events))
