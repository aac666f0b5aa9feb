"""Deletes old tasks, and keeps what must stay however old it is.

The hourly poll asks for it: at most some thousand rows a call, the oldest first, in transactions
that are short. What a call leaves is taken by the next one.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, Model, OuterRef, QuerySet

from optimizer.core.models import TABLE_FIELDS, OptimizeTask, table_models
from optimizer.core.services.speeds import measured
from optimizer.removals.models import RemovalPlan

CHUNK = 2_000
MOST_CHUNKS = 100
# Fewer, because what stays however old it is is walked again for each.
MOST_TASK_CHUNKS = 10
# What is decided looks back a week at most, so this stays whatever the settings say.
LEAST = timedelta(days=8)


def tasks_forget(lake: str, *, now: datetime) -> int:
    """Forget tasks that ended long ago.

    What stays: the last of each table, kind and outcome, because it says when that was done last;
    those by which the lake's speed is told; and those with a list of what was removed.
    """
    before = now - kept(settings.LAKEWARDEN_OPTIMIZER_TASK_DAYS)
    told_by = [task.pk for task in measured(lake)]
    listed = RemovalPlan.objects.filter(task=OuterRef("pk"))
    n_gone = 0
    for tables in table_models():
        name = TABLE_FIELDS[tables.table_format]
        there = tables._default_manager.filter(pk=OuterRef(f"{name}_id"), lake=lake)
        later = OptimizeTask.objects.filter(
            kind=OuterRef("kind"),
            state=OuterRef("state"),
            ended_at__gt=OuterRef("ended_at"),
            **{name: OuterRef(f"{name}_id")},
        )
        old = OptimizeTask.objects.filter(
            Exists(there), Exists(later), ~Exists(listed), ended_at__lt=before
        )
        n_gone += forget(old.exclude(pk__in=told_by).order_by("ended_at"), MOST_TASK_CHUNKS)
    return n_gone


def kept(days: int) -> timedelta:
    """Return for how long something stays that a setting gives so many days."""
    return max(timedelta(days=days), LEAST)


def forget(rows: QuerySet[Model], most_chunks: int = MOST_CHUNKS) -> int:
    """Delete the first chunks of some rows; returns how many rows went."""
    n_gone = 0
    for _ in range(most_chunks):
        keys = list(rows.values_list("pk", flat=True)[:CHUNK])
        if not keys:
            break
        with transaction.atomic():
            n_gone += rows.model._default_manager.filter(pk__in=keys).delete()[0]
    return n_gone
