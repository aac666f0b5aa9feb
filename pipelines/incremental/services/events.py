"""Advances layers after a commit of their source, of which the portal hears."""

from collections.abc import Collection
from datetime import datetime

from django.db.models import Q

from pipelines.models import Layer
from portal.catalog.services.following import Follower, soon
from portal.events.registry import Missed


def on_commits(lake: str, tables: Collection[tuple[str, str]], now: datetime) -> None:
    """Have the layers advanced soon that read what changed."""
    read = Q(pk__in=())
    for db, table in tables:
        read |= Q(edges__db=db, edges__table=table, edges__is_static=False)
    _hasten(lake, read, now)


def on_missed(missed: Missed, now: datetime) -> None:
    """Have the layers advanced soon whose source may have changed."""
    read = Q(edges__db=missed.db) if missed.db else Q()
    if missed.table:
        read &= Q(edges__table=missed.table)
    _hasten(missed.lake, read, now)


FOLLOWER = Follower("pipelines.layers", on_commits, on_missed)


def _hasten(lake: str, read: Q, now: datetime) -> None:
    found = Layer.objects.filter(read, lake=lake, on_commit=True).values_list("pk", flat=True)
    Layer.objects.filter(pk__in=list(found)).update(next_at=soon(now))
