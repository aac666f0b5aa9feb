"""Creates, changes, pauses and deletes layers. Admins and operators do; others see them.

Nothing here touches the lake: the program of a run makes the target and writes it. Deleting a layer
keeps its table.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from pipelines.incremental.domain.definitions import (
    LEAST_MINUTES,
    MOST_MINUTES,
    check_layer,
    to_parsed,
)
from pipelines.incremental.domain.definitions import Layer as Definition
from pipelines.incremental.domain.graph import check_graph
from pipelines.incremental.models import EVERY_MINUTES, PAUSE_MINUTES
from pipelines.incremental.services.rights import NO_ROWS, check_definer
from pipelines.models import Layer, LayerSource, Materialization
from portal.access.actors import Actor
from portal.access.lakes import get_lake
from portal.audit.services import audit_record
from portal.connectors.metastore import Metastore
from portal.lake.errors import NotAllowed, NotVisible, RuleViolation, StaleState
from portal.lake.formats import committed_format
from portal.lake.names import TableName
from portal.lake.reasons import given_reason

_FIXED = ("target", "key", "version", "partition", "kind")


@dataclass(frozen=True, slots=True)
class Timing:
    """When a layer is advanced: at an interval, and after commits, which may come too often."""

    every_minutes: int = EVERY_MINUTES
    on_commit: bool = True
    pause_minutes: int = PAUSE_MINUTES

    @classmethod
    def of(cls, row: Layer) -> Self:
        """Return what is set of a layer."""
        return cls(row.every_minutes, row.on_commit, row.pause_minutes)


_ALWAYS = Timing()
CHANGED = "Its definition was changed."


def check_staff(by: Actor) -> None:
    """Let nobody but admins and operators; NotAllowed `layer.role`."""
    if not by.is_staff:
        raise NotAllowed("layer.role", "Admins and operators keep layers.")


def layer_create(
    lake: str,
    layer: Definition,
    *,
    timing: Timing = _ALWAYS,
    by: Actor,
    now: datetime,
) -> Layer:
    """Create a layer, which begins at once; the same one twice changes nothing.

    Raises:
        NotAllowed: `layer.role`; `layer.rows`, they may not see the rows of a source.
        NotVisible: the lake or the target's database is none.
        RuleViolation: `layer.definition`, `layer.statement`, `layer.source`, `layer.target`,
            `layer.cycle`, `layer.every`, `layer.pause`.
        ExternalFailure: the metastore does not answer.
    """
    check_staff(by)
    _check(layer, timing)
    target = TableName.parse(get_lake(lake).lake, layer.target)
    known = _named(target).first()
    if known is not None and known.layer == layer:
        return known
    place = _looked_up(target, layer, by=by)
    with transaction.atomic():
        _check_graph(lake, layer, own=None)
        row = Layer(lake=lake, db=target.db, table=target.table, location=place)
        _fill(row, layer, timing=timing, by=by, now=now)
        row.owner = by.name
        try:
            with transaction.atomic():
                row.save()
        except IntegrityError as error:
            raise _stale(row) from error
        _sources_set(row, layer)
        record("created", row, {"definition": row.definition}, by=by.name, now=now)
    return row


def layer_edit(
    row: Layer,
    layer: Definition,
    *,
    timing: Timing,
    version: int | None,
    by: Actor,
    now: datetime,
) -> None:
    """Change a layer as of the version that was read; all rows are read the next time.

    One that waits for somebody with a right to its rows is theirs then, also without a change.

    Raises:
        NotAllowed, RuleViolation: as of `layer_create`; `layer.fixed`, what the table is made by.
        StaleState: `layer.changed`.
    """
    check_staff(by)
    _check(layer, timing)
    for field in _FIXED:
        if getattr(layer, field) != getattr(row.layer, field):
            raise RuleViolation(
                "layer.fixed",
                f"The {field} of a layer cannot be changed, for its table is made by it. Create "
                "another layer with another target.",
                field=field,
            )
    is_taken_over = row.problem_code == NO_ROWS
    if is_taken_over or layer != row.layer:
        _looked_up(row.hive, layer, by=by, is_new=False)
    with transaction.atomic():
        known = _locked(row)
        if known.version != version:
            raise _stale(known)
        if known.layer == layer and Timing.of(known) == timing and not is_taken_over:
            return
        _check_graph(known.lake, layer, own=known.pk)
        if known.layer != layer:
            known.full_reason = CHANGED
            _sources_set(known, layer)
        if is_taken_over or known.layer != layer:
            known.problem = known.problem_code = ""
            known.owner = by.name
        _fill(known, layer, timing=timing, by=by, now=now)
        known.version += 1
        known.save()
        record("changed", known, {"definition": known.definition}, by=by.name, now=now)


def layer_pause(row: Layer, *, reason: str, by: Actor, now: datetime) -> None:
    """Advance a layer no more until it is resumed; paused twice it keeps the first reason.

    Its source keeps old versions for it for some days only; overtaken, all rows are read again.

    Raises:
        NotAllowed: `layer.role`.
        RuleViolation: `layer.reason`.
    """
    check_staff(by)
    said = given_reason(reason, "layer.reason", field="reason")
    with transaction.atomic():
        rows = Layer.objects.filter(pk=row.pk, is_paused=False)
        if rows.update(is_paused=True, pause_reason=said):
            record("paused", row, {"reason": said}, by=by.name, now=now)


def layer_resume(row: Layer, *, by: Actor, now: datetime) -> None:
    """Advance a paused layer again, at once; resumed twice it is recorded once.

    Raises:
        NotAllowed: `layer.role`.
    """
    check_staff(by)
    with transaction.atomic():
        rows = Layer.objects.filter(pk=row.pk, is_paused=True)
        if rows.update(is_paused=False, pause_reason="", next_at=now):
            record("resumed", row, {}, by=by.name, now=now)


def layer_delete(row: Layer, *, version: int | None, by: Actor, now: datetime) -> None:
    """Delete a layer and its history; its table stays as it is. Deleted twice it is recorded once.

    Raises:
        NotAllowed: `layer.role`.
        RuleViolation: `layer.read`, another layer reads its table.
        StaleState: `layer.changed`.
    """
    check_staff(by)
    with transaction.atomic():
        known = Layer.objects.select_for_update().filter(pk=row.pk).first()
        if known is None:
            return
        if known.version != version:
            raise _stale(known)
        readers = LayerSource.objects.filter(layer__lake=known.lake, db=known.db, table=known.table)
        first = readers.select_related("layer").order_by("pk").first()
        if first is not None:
            raise RuleViolation(
                "layer.read", f"{known} is read by the layer {first.layer}: delete that one first."
            )
        record("deleted", known, {"definition": known.definition}, by=by.name, now=now)
        known.delete()


def record(action: str, row: Layer, data: dict[str, Any], *, by: str, now: datetime) -> None:
    """Write into the audit log what was done with a layer."""
    audit_record(
        f"layers.{action}",
        actor=by,
        lake=row.lake,
        # No `table`: who sees the target is not told the SQL that makes it.
        object_type="layer",
        object_id=str(row),
        data=data,
        now=now,
    )


def _check(layer: Definition, timing: Timing) -> None:
    if not LEAST_MINUTES <= timing.every_minutes <= MOST_MINUTES:
        raise RuleViolation(
            "layer.every",
            f"Advance it every {LEAST_MINUTES} to {MOST_MINUTES:,} minutes.",
            field="every_minutes",
        )
    if not LEAST_MINUTES <= timing.pause_minutes <= MOST_MINUTES:
        raise RuleViolation(
            "layer.pause",
            f"Let commits advance it at most every {LEAST_MINUTES} to {MOST_MINUTES:,} minutes.",
            field="pause_minutes",
        )
    check_layer(layer, modules=settings.LAKEWARDEN_LAYER_MODULES)


def _looked_up(target: TableName, layer: Definition, *, by: Actor, is_new: bool = True) -> str:
    """Return where the target is, after a look at it and at the sources."""
    config = get_lake(str(target.lake))
    with Metastore.connect(config) as metastore:
        for one in layer.sources:
            _check_source(metastore, TableName.parse(config.lake, one.table), layer, by=by)
        database = metastore.database(target.db)
        kept = Materialization.objects.filter(lake=target.lake, db=target.db, table=target.table)
        if is_new and (metastore.table_or_none(target) is not None or kept.exists()):
            raise RuleViolation(
                "layer.target",
                f"There is a table or materialization {target} already, and a layer makes its own. "
                "Choose another target, or drop that table.",
                field="target",
            )
    return f"{str(database.locationUri).rstrip('/')}/{target.table}"


def _check_source(metastore: Metastore, name: TableName, layer: Definition, *, by: Actor) -> None:
    struct = metastore.table_or_none(name)
    is_target = _named(name).exists()  # of another layer, which may not have made it yet
    if struct is not None or is_target:
        check_definer(by, name, struct)
    if is_target:
        return
    if struct is None:
        raise RuleViolation("layer.source", f"There is no table {name}.", field="sources")
    if committed_format(struct) is None:
        raise RuleViolation(
            "layer.source",
            f"{name} is neither a Hudi nor an Iceberg table: it has no commits to follow.",
            field="sources",
        )
    columns = {str(one.name).lower() for one in struct.sd.cols or ()}
    columns |= {str(one.name).lower() for one in struct.partitionKeys or ()}
    wanted = layer.event_time if str(name) == layer.changing else ""
    if wanted and columns and wanted not in columns:
        raise RuleViolation("layer.source", f"{name} has no column {wanted}.", field="event_time")


def _check_graph(lake: str, layer: Definition, *, own: int | None) -> None:
    others = Layer.objects.select_for_update().filter(lake=lake).order_by("pk")
    graph = [(str(one), _names(one.layer)) for one in others if one.pk != own]
    check_graph([*graph, (layer.target, _names(layer))])


def _names(layer: Definition) -> list[str]:
    return [one.table for one in layer.sources]


def _fill(
    row: Layer,
    layer: Definition,
    *,
    timing: Timing,
    by: Actor,
    now: datetime,
) -> None:
    row.definition = to_parsed(layer)
    row.every_minutes, row.on_commit = timing.every_minutes, timing.on_commit
    row.pause_minutes, row.earliest_at = timing.pause_minutes, None
    row.set_by, row.set_at, row.next_at = by.name, now, now


def _sources_set(row: Layer, layer: Definition) -> None:
    """Write the edges; a source that was read before keeps what is known of it."""
    kept = set(_names(layer))
    for edge in row.edges.all():
        if str(edge) not in kept:
            edge.delete()
    for one in layer.sources:
        db, _, table = one.table.partition(".")
        row.edges.update_or_create(db=db, table=table, defaults={"is_static": one.is_static})


def _named(table: TableName) -> QuerySet[Layer]:
    return Layer.objects.filter(lake=str(table.lake), db=table.db, table=table.table)


def _locked(row: Layer) -> Layer:
    found = Layer.objects.select_for_update().filter(pk=row.pk).first()
    if found is None:
        raise NotVisible("layer.none", "There is no such layer for you.", layer=row.pk)
    return found


def _stale(row: Layer) -> StaleState:
    return StaleState(
        "layer.changed",
        f"The layer {row} was changed since you loaded the page. Reload it, then change it.",
        table=str(row),
    )
