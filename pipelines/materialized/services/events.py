"""Refreshes materializations after a commit of their facts, of which the portal hears.

A joined table is expected to change seldom, and each change of it computes everything, so its
commits wait for the schedule.
"""

from collections.abc import Collection
from datetime import datetime

from django.db.models import Q

from pipelines.models import Materialization
from portal.catalog.services.following import Follower, soon
from portal.events.registry import Missed


def on_commits(lake: str, tables: Collection[tuple[str, str]], now: datetime) -> None:
    """Have the materializations refreshed soon whose facts changed."""
    _hasten(lake, Q(source__in=[f"{db}.{table}" for db, table in tables]), now)


def on_missed(missed: Missed, now: datetime) -> None:
    """Have the materializations refreshed soon whose facts may have changed."""
    read = Q(source__startswith=f"{missed.db}.") if missed.db else Q()
    if missed.table:
        read = Q(source=f"{missed.db}.{missed.table}")
    _hasten(missed.lake, read, now)


FOLLOWER = Follower("pipelines.materialized", on_commits, on_missed)


def _hasten(lake: str, read: Q, now: datetime) -> None:
    rows = Materialization.objects.filter(read, lake=lake, on_commit=True, is_paused=False)
    rows.update(next_at=soon(now))
