"""Asks for runs that advance layers, and says what the program of a run has to do."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from pipelines.incremental.domain.graph import below, chain_of, run_order
from pipelines.incremental.domain.messages import (
    LayerOrder,
    Range,
    Request,
    SourceOrder,
)
from pipelines.incremental.services.declaring import check_staff, record
from pipelines.incremental.services.rights import check_owner
from pipelines.models import Layer, LayerSource
from portal.access.actors import Actor
from portal.access.lakes import get_lake
from portal.catalog.services.change_readers import change_readers_of
from portal.catalog.services.watermarks import watermark_of
from portal.connectors.metastore import Metastore
from portal.lake.errors import ExternalFailure, PortalError, RuleViolation, StaleState
from portal.lake.formats import CommittedFormat, committed_format
from portal.lake.names import TableName
from portal.lake.reasons import given_reason
from portal.runs.models import Run
from portal.runs.requests.services import run_request

KIND = "pipelines.layer"
SCHEDULE = "schedule"
MOST_LAYERS = 200
LONGEST_VALUE = 256


def layer_run(row: Layer, *, by: Actor, now: datetime) -> Run:
    """Advance a layer now, after the layers that it is made of; while one waits that is returned.

    Raises:
        NotAllowed: `layer.role`.
        StaleState: `layer.paused`.
    """
    check_staff(by)
    with transaction.atomic():
        known = Layer.objects.select_for_update().get(pk=row.pk)
        if known.is_paused:
            raise StaleState("layer.paused", f"{known} is paused: resume it first.")
        if (running := open_run_of(known)) is not None:
            return running
        rows = {str(one): one for one in _living(known.lake)}
        chain = chain_of(_graph(rows.values()), str(known))
        return _request(
            known.lake, [rows[name].pk for name in chain], by=by.name, row=known, now=now
        )


def layer_backfill(row: Layer, *, low: str, high: str, by: Actor, now: datetime) -> Run:
    """Read some partitions of a layer again from all rows; its position stays as it is.

    Raises:
        NotAllowed: `layer.role`.
        RuleViolation: `layer.range`.
    """
    check_staff(by)
    if not row.layer.partition:
        raise RuleViolation(
            "layer.range", "The target has no partitions: read all rows again.", field="low"
        )
    are_fit = 0 < len(low) <= LONGEST_VALUE and 0 < len(high) <= LONGEST_VALUE
    if not are_fit or _is_before(high, low):
        raise RuleViolation(
            "layer.range", "Give the first and the last partition, in their order.", field="low"
        )
    with transaction.atomic():
        run = _request(
            row.lake, [row.pk], by=by.name, row=row, backfill={"low": low, "high": high}, now=now
        )
        record("backfilled", row, {"low": low, "high": high}, by=by.name, now=now)
    return run


def layer_reread(row: Layer, *, reason: str, by: Actor, now: datetime) -> None:
    """Have all rows of the source read the next time, which is soon.

    Raises:
        NotAllowed: `layer.role`.
        RuleViolation: `layer.reason`.
    """
    check_staff(by)
    said = given_reason(reason, "layer.reason", field="reason")
    with transaction.atomic():
        Layer.objects.filter(pk=row.pk).update(full_reason=f"{by.name}: {said}", next_at=now)
        record("reread", row, {"reason": said}, by=by.name, now=now)


def open_run_of(row: Layer) -> Run | None:
    """Return the run that somebody asked for of a layer, and that has not ended."""
    return _open_runs(row.lake).filter(subject_type="table", subject_id=str(row)).first()


def run_under_way(row: Layer) -> Run | None:
    """Return the run that advances a layer now or next: one that was asked for, or another."""
    asked = open_run_of(row)
    if asked is not None:
        return asked
    rows = _open_runs(row.lake).order_by("queued_at")
    return next((one for one in rows if row.pk in one.params["layers"]), None)


def layers_due(lake: str, *, now: datetime) -> int:
    """Ask for one run of all layers that are due, and of those below them; returns how many.

    While one by schedule waits or runs, what is due stays so.
    """
    if _open_runs(lake).filter(requested_by=SCHEDULE).exists():
        return 0
    with transaction.atomic():
        rows = {str(one): one for one in _living(lake).select_for_update()}
        graph = _graph(rows.values())
        due = [name for name, one in rows.items() if one.next_at <= now]
        wanted: set[str] = set()
        for name in sorted(due, key=lambda name: rows[name].next_at):
            more = wanted | {name} | below(graph, name)
            if wanted and len(more) > MOST_LAYERS:
                break  # what waits longest goes first, so none starves
            wanted = more
        chosen = [rows[name] for name in run_order(graph) if name in wanted][:MOST_LAYERS]
        if not chosen:
            return 0
        for one in chosen:
            one.next_at = now + timedelta(minutes=one.every_minutes)
            one.earliest_at = now + timedelta(minutes=one.pause_minutes)
        Layer.objects.bulk_update(chosen, ["next_at", "earliest_at"], batch_size=200)
        _request(lake, [one.pk for one in chosen], by=SCHEDULE, row=None, now=now)
    return len(chosen)


def earlier_run(run: Run) -> bool:
    """Return whether another run of the lake that was asked for earlier has not ended.

    Only one advances layers of a lake at a time: a target has one writer.
    """
    others = _open_runs(run.lake).exclude(pk=run.pk)
    earlier = others.filter(queued_at__lt=run.queued_at)
    same = others.filter(queued_at=run.queued_at, pk__lt=run.pk)
    return earlier.exists() or same.exists()


def request_of(run: Run) -> dict[str, Any]:
    """Return the request of a run as plain values; a layer that cannot be advanced is left out.

    Why it cannot stands at the layer.

    Raises:
        ExternalFailure: the metastore does not answer.
    """
    rows = list(_living(run.lake))
    own = {str(one): one for one in rows}
    wanted = set(run.params["layers"])
    order = run_order(_graph(rows))
    backfill = run.params.get("backfill")
    orders = []
    with Metastore.connect(get_lake(run.lake)) as metastore:
        for row in (own[name] for name in order if own[name].pk in wanted):
            try:
                orders.append(_order(row, own, metastore, backfill))
            except ExternalFailure:
                raise
            except PortalError as error:
                Layer.objects.filter(pk=row.pk).update(
                    problem=error.message, problem_code=error.code, heard_at=run.queued_at
                )
    request = Request(tuple(orders), tuple(settings.LAKEWARDEN_LAYER_MODULES))
    plain: dict[str, Any] = msgspec.to_builtins(request)
    return plain


def _order(
    row: Layer,
    own: Mapping[str, Layer],
    metastore: Metastore,
    backfill: Mapping[str, str] | None,
) -> LayerOrder:
    _check_place(row, metastore)
    check_owner(row, metastore)
    readers = change_readers_of(row.hive)
    return LayerOrder(
        id=row.pk,
        owner=f"layer {row.identity}",
        version=row.version,
        layer=row.layer,
        location=row.location,
        sources=tuple(_source(row, edge, own, metastore) for edge in row.edges.order_by("pk")),
        full=row.full_reason,
        backfill=Range(**backfill) if backfill else None,
        kept_since=min((one.since for one in readers if not one.is_capped), default=None),
    )


def _check_place(row: Layer, metastore: Metastore) -> None:
    """Refuse a target whose name another table has got: writing it would register it there."""
    struct = metastore.table_or_none(row.hive)
    if struct is None:
        return
    path = get_lake(row.lake).path
    place = str(struct.sd.location or "") if struct.sd else ""
    if not place or path(place) != path(row.location):
        raise RuleViolation(
            "layer.target",
            f"There is another table {row} at {place or 'no place'}. Drop or rename it, or create "
            "another layer with another target.",
        )


def _source(
    row: Layer, edge: LayerSource, own: Mapping[str, Layer], metastore: Metastore
) -> SourceOrder:
    name = TableName.parse(row.hive.lake, str(edge))
    upstream = own.get(str(edge))
    found: CommittedFormat | None = None
    struct = None if upstream else metastore.table_or_none(name)
    if upstream is not None:
        found, place = "hudi", upstream.location
    elif struct is not None:
        found, place = committed_format(struct), str(struct.sd.location or "")
    if found is None:
        raise RuleViolation("layer.source", f"There is no Hudi or Iceberg table {name} any more.")
    mark = watermark_of(name)
    return SourceOrder(
        table=str(edge),
        format=found,
        location=place,
        is_static=edge.is_static,
        schema=edge.fields,
        position=edge.position,
        event_time=edge.event_time,
        watermark=mark.at if mark else None,
    )


def _is_before(low: str, high: str) -> bool:
    """Compare partitions whose type only the table's program knows: numbers as numbers."""
    are_numbers = all(one.isascii() and one.isdigit() for one in (low, high))
    return int(low) < int(high) if are_numbers else low < high


def _living(lake: str) -> QuerySet[Layer]:
    return Layer.objects.filter(lake=lake, is_paused=False).order_by("pk")


def _graph(rows: Any) -> dict[str, list[str]]:
    return {str(one): [source.table for source in one.layer.sources] for one in rows}


def _open_runs(lake: str) -> QuerySet[Run]:
    return Run.objects.filter(lake=lake, kind=KIND, finished_at=None)


def _request(
    lake: str,
    layers: Sequence[int],
    *,
    by: str,
    row: Layer | None,
    backfill: Mapping[str, str] | None = None,
    now: datetime,
) -> Run:
    return run_request(
        KIND,
        lake=lake,
        params={"layers": list(layers), "backfill": backfill},
        requested_by=by,
        subject=("table", str(row)) if row else ("", ""),
        now=now,
    )
