"""Deletes the optimizer's old history, and keeps what must stay however old it is.

The hourly poll asks for it: at most some thousand rows a call, the oldest first, in transactions
that are short. What a call leaves is taken by the next one.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, Model, OuterRef, QuerySet

from optimizer.core.services.speeds import measured
from optimizer.models import Commit, HudiTable, IcebergTable, OptimizeTask, RemovalPlan

CHUNK = 2_000
MOST_CHUNKS = 100
# Fewer, because what stays however old it is is walked anew for each.
MOST_TASK_CHUNKS = 10
# What is decided looks back a week at most, so this stays whatever the settings say.
LEAST = timedelta(days=8)


def commits_forget(lake: str, *, now: datetime) -> int:
    """Forget commits that nothing is decided by any more: a writer may make one a second."""
    before = now - kept(settings.LAKEWARDEN_OPTIMIZER_COMMIT_DAYS)
    # Asked row by row for its lake: a join would put the old ones of all tables in order first.
    of_lake = Exists(IcebergTable.objects.filter(pk=OuterRef("table_id"), lake=lake))
    return _forget(Commit.objects.filter(of_lake, at__lt=before).order_by("at"), MOST_CHUNKS)


def tasks_forget(lake: str, *, now: datetime) -> int:
    """Forget tasks that ended long ago.

    What stays: the last of each table, kind and outcome, because it says when that was done last;
    those by which the lake's speed is told; and those with a list of what was removed.
    """
    before = now - kept(settings.LAKEWARDEN_OPTIMIZER_TASK_DAYS)
    told_by = [task.pk for task in measured(lake)]
    listed = RemovalPlan.objects.filter(task=OuterRef("pk"))
    n_gone = 0
    for tables, name in ((IcebergTable, "table"), (HudiTable, "hudi")):
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
        n_gone += _forget(old.exclude(pk__in=told_by).order_by("ended_at"), MOST_TASK_CHUNKS)
    return n_gone


def kept(days: int) -> timedelta:
    """Return for how long something stays that a setting gives so many days."""
    return max(timedelta(days=days), LEAST)


def _forget(rows: QuerySet[Model], most_chunks: int) -> int:
    n_gone = 0
    for _ in range(most_chunks):
        keys = list(rows.values_list("pk", flat=True)[:CHUNK])
        if not keys:
            break
        with transaction.atomic():
            n_gone += rows.model._default_manager.filter(pk__in=keys).delete()[0]
    return n_gone
