"""Handles metastore events, and events that were missed.

It writes rows only, in the transaction that moves the follower's position: a commit is either
heard with all it means, or still to come.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from optimizer.discovery.services.poll import poll_missed
from optimizer.hudi.tables.domain.events import HudiWord, heard_hudi
from optimizer.hudi.tables.services.record_changes import hudi_note
from optimizer.iceberg.planner.services.planner import queue_heard
from optimizer.iceberg.tables.domain.events import EVENT_TYPES, Heard, heard
from optimizer.iceberg.tables.services.record_changes import note
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
    said: defaultdict[str, list[Heard]] = defaultdict(list)
    of_hudi: defaultdict[str, list[HudiWord]] = defaultdict(list)
    for event in events:
        name = (event.db, event.table)
        meant = heard(event.type, name, event.message, former=event.former)
        if meant is not None:
            said[event.lake].append(meant)
        word = heard_hudi(event.type, name, event.message, former=event.former)
        if word is not None:
            of_hudi[event.lake].append(word)
    for lake, words in of_hudi.items():
        hudi_note(lake, words, now=now)
    for lake, some in said.items():
        # Commits of our own make a look due, and no task by themselves.
        queue_heard(note(lake, some, now=now).committed, now=now)


def on_missed(missed: Missed, now: datetime) -> None:
    """Have the lake's Iceberg and Hudi tables read again from the metastore's database."""
    poll_missed(missed, now=now)


def register_subscriber() -> None:
    """Tell the follower what the room wants of it."""
    subscribe(Subscriber(NAME, EVENT_TYPES, on_event, on_missed, on_events))
