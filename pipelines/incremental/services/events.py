"""Advances layers after a commit of their source, where the metastore tells of one."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from django.db.models import F, Q
from django.db.models.functions import Least

from pipelines.models import Layer
from portal.events.messages import LakeEvent
from portal.events.registry import Missed, Subscriber, subscribe

_TYPES = frozenset({"ALTER_TABLE", "ALTER_PARTITION", "ADD_PARTITION", "INSERT", "CREATE_TABLE"})


def register_subscriber() -> None:
    """Tell the follower which events are of interest."""
    subscribe(Subscriber("pipelines.layers", _TYPES, on_event, on_missed, on_events))


def on_event(event: LakeEvent, now: datetime) -> None:
    """Take one event in."""
    on_events([event], now)


def on_events(events: Sequence[LakeEvent], now: datetime) -> None:
    """Have the layers advanced soon that read what changed."""
    of_lake: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
    for event in events:
        of_lake[event.lake].add((event.db, event.table))
    for lake, names in of_lake.items():
        read = Q(pk__in=())
        for db, table in names:
            read |= Q(edges__db=db, edges__table=table, edges__is_static=False)
        _soon(lake, read, now)


def on_missed(missed: Missed, now: datetime) -> None:
    """Have the layers advanced soon whose source may have changed."""
    read = Q(edges__db=missed.db) if missed.db else Q()
    if missed.table:
        read &= Q(edges__table=missed.table)
    _soon(missed.lake, read, now)


def _soon(lake: str, read: Q, now: datetime) -> None:
    found = Layer.objects.filter(read, lake=lake, on_commit=True).values_list("pk", flat=True)
    Layer.objects.filter(pk__in=list(found)).update(next_at=Least(F("next_at"), now))
