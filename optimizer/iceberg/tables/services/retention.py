"""Deletes old commits of Iceberg tables: a writer may make one a second."""

from datetime import datetime

from django.conf import settings
from django.db.models import Exists, OuterRef

from optimizer.core.services.retention import forget, kept
from optimizer.models import Commit, IcebergTable


def commits_forget(lake: str, *, now: datetime) -> int:
    """Forget commits that nothing is decided by any more; returns how many."""
    before = now - kept(settings.LAKEWARDEN_OPTIMIZER_COMMIT_DAYS)
    # Asked row by row for its lake: a join would put the old ones of all tables in order first.
    of_lake = Exists(IcebergTable.objects.filter(pk=OuterRef("table_id"), lake=lake))
    return forget(Commit.objects.filter(of_lake, at__lt=before).order_by("at"))
