"""The page of what is kept of a captured table: for admins."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from pipelines.cdc.control.selectors.pipelines import get_captured_table, get_pipeline_for_user
from pipelines.cdc.control.services.kept_records import kept_read
from portal.access.actors import Actor
from portal.access.fresh import is_fresh
from portal.ui.frame.context import person
from portal.ui.lists.tables import Column, Table

_QUARANTINED = (
    Column(key="at", title="Changed", kind="ago"),
    Column(key="reason", title="Reason"),
    Column(key="column", title="Column", kind="code"),
    Column(key="text", title="Value", kind="code", is_wide=True),
    Column(key="key", title="Key", kind="code", is_wide=True),
    Column(key="schema", title="Schema", kind="count"),
)
_ASIDE = (
    Column(key="column", title="Column", kind="code"),
    Column(key="n", title="Values", kind="count"),
)


@require_GET
def kept_view(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Show what is in quarantine and what is aside."""
    user, now = person(request), timezone.now()
    pipeline = get_pipeline_for_user(name, user=user)
    table = get_captured_table(pipeline, pk)
    by = Actor.of(user, lake=pipeline.lake, is_fresh=is_fresh(request, now))
    found = kept_read(table, by=by, now=now)
    context: dict[str, Any] = {
        "pipeline": table.pipeline,
        "table": table,
        "found": found,
        "quarantined": Table(_QUARANTINED, list(found.quarantined), "Records in quarantine"),
        "aside": Table(_ASIDE, list(found.aside), "Values kept aside"),
        "aside_days": settings.LAKEWARDEN_CDC_ASIDE_DAYS,
    }
    return render(request, "pipelines/kept.html", context)
