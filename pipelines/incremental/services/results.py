"""Takes in what the program that advances layers says. Taken in again nothing changes."""

from collections.abc import Mapping
from datetime import datetime, timedelta

import msgspec
from django.db import transaction

from pipelines.incremental.domain.graph import Mark, least
from pipelines.incremental.domain.messages import RESULTS, Advanced, Edge
from pipelines.incremental.domain.states import schema_words
from pipelines.models import Layer, LayerAdvance, LayerSource
from portal.runs.models import Run
from portal.runs.records.spools import open_spool
from portal.runs.results.json_files import json_results

KEPT = timedelta(days=90)
_AT_ONCE = 1_000
_HAS_ALL = ("done", "unchanged")
_NO_TIME = "it has no event time, and no pipeline fills it"
_EMPTY = "it has no row with an event time"
_UNFINISHED = "an older commit of it was still being written"


def results_take(run: Run) -> int:
    """Take in each layer of a run in its order; returns how many had a result."""
    found = {one.id: one for one in json_results(open_spool(run), RESULTS, Advanced)}
    fresh: set[str] = set()
    for one in run.params["layers"]:
        if one in found:
            target = _take(run, found[one], fresh)
            if target and found[one].state in _HAS_ALL:
                fresh.add(target)
    return len(found)


def runs_failed(run: Run, problem: str, *, now: datetime) -> int:
    """Say at each layer of a run that it did not come to that it was not advanced."""
    rows = Layer.objects.filter(lake=run.lake, pk__in=run.params["layers"])
    missed = rows.exclude(heard_at__gte=run.queued_at)
    return missed.update(problem=problem, problem_code="layer.run", heard_at=now)


def advances_trim(lake: str, *, now: datetime) -> int:
    """Delete advances of longer ago than pages show; returns how many."""
    rows = LayerAdvance.objects.filter(layer__lake=lake, at__lt=now - KEPT)
    old = list(rows.order_by("pk").values_list("pk", flat=True)[:_AT_ONCE])
    LayerAdvance.objects.filter(pk__in=old).delete()
    return len(old)


@transaction.atomic
def _take(run: Run, advanced: Advanced, fresh: set[str]) -> str:
    """Take in one layer; returns its target, empty: it is no more, or more was heard of it."""
    row = Layer.objects.select_for_update().filter(lake=run.lake, pk=advanced.id).first()
    if row is None or (row.heard_at is not None and row.heard_at > advanced.at):
        return ""
    _, is_new = LayerAdvance.objects.get_or_create(
        layer=row,
        run=run.pk,
        defaults={
            "at": advanced.at,
            "state": advanced.state,
            "mode": advanced.mode,
            "reason": advanced.reason,
            "n_upserts": advanced.n_upserts,
            "n_deletes": advanced.n_deletes,
            "n_commits": sum(one.n_commits for one in advanced.edges),
            "seconds": advanced.seconds,
        },
    )
    if not is_new:
        return str(row)
    row.heard_at = advanced.at
    row.problem = advanced.reason if advanced.state in ("failed", "held") else ""
    row.problem_code = advanced.code
    edges = {str(one): one for one in row.edges.all()}
    for edge in advanced.edges:
        if str(edge.table) in edges:
            _edge_take(row, edges[edge.table], edge, advanced, fresh)
    if advanced.state in _HAS_ALL and advanced.mode != "backfill":
        _far(row, edges)
        if advanced.version == row.version and row.full_reason == advanced.reason:
            row.full_reason = ""
    row.save()
    return str(row)


def _edge_take(
    row: Layer, known: LayerSource, edge: Edge, advanced: Advanced, fresh: set[str]
) -> None:
    if advanced.state == "held":
        if schema_words(known.fields, edge.schema):
            known.found_schema = msgspec.to_builtins(edge.schema)
    elif advanced.state in _HAS_ALL and advanced.mode != "backfill":
        known.found_schema = []
        if not known.schema:
            known.schema = msgspec.to_builtins(edge.schema)
        known.position, known.position_at = edge.position, edge.position_at
        if edge.read_at is not None:
            known.read_at, known.event_time = edge.read_at, edge.event_time
            known.watermark, known.watermark_reason = _watermark(row, known, edge, fresh)
        elif known.watermark is None:
            known.watermark_reason = _UNFINISHED
    known.save()


def _watermark(
    row: Layer, known: LayerSource, edge: Edge, fresh: set[str]
) -> tuple[datetime | None, str]:
    """Return how far the source was as it was read.

    By its event time where that is declared; never later than the reading, for clocks are wrong.
    """
    layer = row.layer
    if layer.event_time and not known.is_static:
        if edge.event_time is None or edge.read_at is None:
            return None, _EMPTY
        late = timedelta(minutes=layer.lateness_minutes)
        return min(edge.event_time, edge.read_at) - late, ""
    if str(known) in fresh:
        above = Layer.objects.get(lake=row.lake, db=known.db, table=known.table)
        return above.watermark, above.watermark_reason
    return edge.watermark, "" if edge.watermark else _NO_TIME


def _far(row: Layer, edges: Mapping[str, LayerSource]) -> None:
    """Set how far the target is: as far as the source that is least far."""
    read = [one.read_at for one in edges.values()]
    row.advanced_at = None if None in read else min(one for one in read if one is not None)
    marks = {
        name: Mark(one.watermark, one.watermark_reason)
        for name, one in edges.items()
        # A static table without one does not change, so it says nothing.
        if not (one.is_static and one.watermark is None)
    }
    mark = least(marks)
    row.watermark, row.watermark_reason = mark.at, mark.reason
