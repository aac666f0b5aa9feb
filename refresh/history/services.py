"""Retention of the statements sent to a cluster."""

from datetime import datetime, timedelta

from django.conf import settings

from refresh.models import Cluster, Refresh, RefreshOutcome

CHUNK = 1_000
# Who waits for a turn is compared with what was sent since; nobody waits that long.
LEAST = timedelta(days=8)


def history_forget(cluster: Cluster, *, now: datetime) -> int:
    """Forget the oldest statements of a cluster, at most `CHUNK` a call; returns how many.

    When each table was refreshed last stands in its own rows and stays.
    """
    before = now - max(timedelta(days=settings.LAKEWARDEN_REFRESH_HISTORY_DAYS), LEAST)
    old = Refresh.objects.filter(cluster=cluster, began_at__lt=before)
    ended = old.exclude(ending=RefreshOutcome.RUNNING).order_by("began_at")
    keys = list(ended.values_list("pk", flat=True)[:CHUNK])
    return Refresh.objects.filter(pk__in=keys).delete()[0] if keys else 0
