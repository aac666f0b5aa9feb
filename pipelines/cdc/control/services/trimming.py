"""Removes batches of a changelog that are applied and old enough."""

from datetime import datetime, timedelta

from django.conf import settings

from pipelines.cdc.changes.domain.changelog import Changelog
from pipelines.models import Pipeline


def changelog_trim(pipeline: Pipeline, log: Changelog, *, now: datetime) -> int:
    """Remove batches that are applied and older than LAKEWARDEN_CHANGELOG_DAYS; returns how many.

    Within that time a table of the lake that was restored, or whose last commits were rolled back,
    gets its changes again. The capture calls it, for nobody else writes to its changelog.
    """
    old = now - timedelta(days=settings.LAKEWARDEN_CHANGELOG_DAYS)
    last = pipeline.minutes.filter(minute__lt=old, batch__gt=0).order_by("-minute").first()
    fresh = Pipeline.objects.filter(pk=pipeline.pk).first()
    if last is None or fresh is None or not fresh.applied_batch:
        return 0
    return log.trim(min(last.batch, fresh.applied_batch))
