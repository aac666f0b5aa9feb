"""Measures tables soon after a commit, of which the portal hears."""

from collections.abc import Collection
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet

from portal.catalog.services.following import Follower
from portal.events.registry import Missed
from quality.checks.services.declaring import LEAST_MINUTES
from quality.models import CheckSet

PAUSE = timedelta(minutes=LEAST_MINUTES)
"""From one measurement to the next, however many commits there are."""


def on_commits(lake: str, tables: Collection[tuple[str, str]], now: datetime) -> None:
    """Have the tables measured soon that say so."""
    for db, table in tables:
        _hasten(CheckSet.objects.filter(lake=lake, db=db, table=table), now)


def on_missed(missed: Missed, now: datetime) -> None:
    """Have the tables measured soon that may have a new commit."""
    of = {"db": missed.db, "table": missed.table}
    named = Q(**{name: value for name, value in of.items() if value})
    _hasten(CheckSet.objects.filter(named, lake=missed.lake), now)


FOLLOWER = Follower("quality.checks", on_commits, on_missed)


def _hasten(rows: QuerySet[CheckSet], now: datetime) -> None:
    rows = rows.filter(on_commit=True, is_paused=False, next_at__gt=now)
    rows.exclude(measured_at__gt=now - PAUSE).update(next_at=now)
    soon = rows.filter(measured_at__gt=now - PAUSE, next_at__gt=now + PAUSE)
    soon.update(next_at=now + PAUSE)
