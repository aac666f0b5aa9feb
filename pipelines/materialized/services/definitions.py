"""Defines, changes, pauses and deletes materializations.

Setting the same twice changes nothing. Nothing here touches the lake: the next refresh computes the
table, and one that was deleted here stays in the lake until somebody drops it as any other table.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Self
from uuid import uuid4

from django.db import IntegrityError, transaction

from pipelines.materialized.domain.definition import Definition, read_definition
from pipelines.materialized.domain.refusals import Refused
from pipelines.materialized.models import EVERY_MINUTES, PAUSE_MINUTES
from pipelines.materialized.services.rights import check_place, check_sources, location_of
from pipelines.models import Layer, Materialization
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.audit.services import audit_record
from portal.connectors.metastore import Metastore
from portal.lake.errors import RuleViolation, StaleState
from portal.lake.names import TableName

LEAST_MINUTES, MOST_MINUTES = 1, 60 * 24 * 31
LONGEST_SQL = 20_000


@dataclass(frozen=True, slots=True)
class Wanted:
    """A definition, when it is refreshed, and how far behind queries may read it."""

    sql: str
    every_minutes: int = EVERY_MINUTES
    max_lag_minutes: int = 0
    on_commit: bool = False
    pause_minutes: int = PAUSE_MINUTES

    @classmethod
    def of(cls, row: Materialization) -> Self:
        """Return what is set of a materialization."""
        return cls(**{one.name: getattr(row, one.name) for one in fields(cls)})


def definition_read(sql: str) -> Definition:
    """Read a definition.

    Raises:
        RuleViolation: `materialized.definition`, with the clause and the reason.
    """
    if len(sql) > LONGEST_SQL:
        raise RuleViolation(
            "materialized.definition", f"Write at most {LONGEST_SQL:,} signs.", field="sql"
        )
    try:
        return read_definition(sql)
    except Refused as error:
        raise RuleViolation(
            "materialized.definition", str(error), field="sql", clause=error.clause
        ) from error


def materialization_create(
    lake: str, name: str, wanted: Wanted, *, user: User, now: datetime
) -> Materialization:
    """Define a materialization; it is computed soon. The same again changes nothing.

    Raises:
        NotVisible: the lake is none.
        NotAllowed: `materialized.rows`.
        RuleViolation: `materialized.definition`, `materialized.source`, `materialized.database`,
            `materialized.taken`, `materialized.every`, `materialized.pause`,
            `materialized.max_lag`, `name.table`, `name.grammar`.
        ExternalFailure: the metastore does not answer.
    """
    definition = definition_read(wanted.sql)
    _check_minutes(wanted)
    config = get_lake(lake)
    target = TableName.parse(config.lake, name.strip().lower())
    known = Materialization.objects.filter(lake=lake, db=target.db, table=target.table).first()
    if known is not None and (Wanted.of(known), known.owner) == (wanted, user.username):
        return known
    with Metastore.connect(config) as metastore:
        check_sources(metastore, config.lake, definition, user=user)
        location = location_of(metastore, target, user=user)
        layers = Layer.objects.filter(lake=lake, db=target.db, table=target.table)
        is_there = metastore.table_or_none(target) is not None or layers.exists()
        if known is not None or is_there:
            raise _taken(target)
        check_place(metastore, target, definition, location=location)
    row = Materialization(
        lake=lake,
        db=target.db,
        table=target.table,
        location=location,
        identity=uuid4(),
        owner=user.username,
        source=definition.fact.name,
        **asdict(wanted),
        set_by=user.username,
        set_at=now,
        next_at=now,
    )
    try:
        with transaction.atomic():
            row.save()
            _record("created", row, {"sql": row.sql}, by=user.username, now=now)
    except IntegrityError as error:
        raise _taken(target) from error
    return row


def materialization_edit(
    row: Materialization, wanted: Wanted, *, version: int | None, user: User, now: datetime
) -> None:
    """Change a definition, which is computed in full then, or how often it is refreshed.

    Whoever changes it owns it from then on: it is read by their rights.

    Raises:
        NotAllowed, RuleViolation: as for `materialization_create`.
        StaleState: `materialized.changed`.
    """
    definition = definition_read(wanted.sql)
    _check_minutes(wanted)
    config = get_lake(row.lake)
    with Metastore.connect(config) as metastore:
        check_sources(metastore, config.lake, definition, user=user)
        location_of(metastore, row.hive, user=user)
        check_place(metastore, row.hive, definition, location=row.location)
    with transaction.atomic():
        known = _locked(row, version)
        if Wanted.of(known) == wanted:
            return
        if known.sql != wanted.sql:
            # What is there is of the definition before: no query may be answered from it.
            known.positions, known.types, known.fresh_at = {}, {}, None
        for name, value in asdict(wanted).items():
            setattr(known, name, value)
        known.earliest_at = None
        known.source, known.owner = definition.fact.name, user.username
        known.version += 1
        known.set_by, known.set_at, known.next_at = user.username, now, now
        known.save()
        _record("edited", known, {"sql": known.sql}, by=user.username, now=now)


def materialization_pause(row: Materialization, *, paused: bool, user: User, now: datetime) -> None:
    """Stop refreshing on schedule, or go on; the same twice changes nothing."""
    materialization_pause_by(row, paused=paused, by=user.username, data={}, now=now)


def materialization_pause_by(
    row: Materialization, *, paused: bool, by: str, data: Mapping[str, object], now: datetime
) -> None:
    """Do the same for somebody who is no person; `data` goes into the record."""
    with transaction.atomic():
        rows = Materialization.objects.filter(pk=row.pk, is_paused=not paused)
        if rows.update(is_paused=paused, next_at=now):
            _record("paused" if paused else "resumed", row, data, by=by, now=now)


def materialization_delete(
    row: Materialization, *, typed: str, version: int | None, user: User, now: datetime
) -> None:
    """Delete a materialization from the portal with its history; its tables stay in the lake.

    Raises:
        RuleViolation: `materialized.typed`, its name was not typed.
        StaleState: `materialized.changed`.
    """
    if typed.strip() != str(row):
        raise RuleViolation("materialized.typed", f"Type {row} to delete it.", field="typed")
    with transaction.atomic():
        known = _locked(row, version)
        data = {"sql": known.sql, "tables_left": known.own_tables}
        _record("deleted", known, data, by=user.username, now=now)
        known.delete()


def _locked(row: Materialization, version: int | None) -> Materialization:
    known = Materialization.objects.select_for_update().filter(pk=row.pk).first()
    if known is None or known.version != version:
        raise StaleState(
            "materialized.changed",
            f"{row} was changed since you loaded the page. Reload it, then change it.",
        )
    return known


def _taken(target: TableName) -> RuleViolation:
    return RuleViolation(
        "materialized.taken",
        f"There is a table, materialization or layer {target} already. Choose another name.",
        field="name",
    )


def _check_minutes(wanted: Wanted) -> None:
    if not LEAST_MINUTES <= wanted.every_minutes <= MOST_MINUTES:
        raise RuleViolation(
            "materialized.every",
            f"Refresh every {LEAST_MINUTES} to {MOST_MINUTES:,} minutes.",
            field="every_minutes",
        )
    if not LEAST_MINUTES <= wanted.pause_minutes <= MOST_MINUTES:
        raise RuleViolation(
            "materialized.pause",
            f"Let commits refresh it at most every {LEAST_MINUTES} to {MOST_MINUTES:,} minutes.",
            field="pause_minutes",
        )
    if not 0 <= wanted.max_lag_minutes <= MOST_MINUTES:
        raise RuleViolation(
            "materialized.max_lag",
            f"Let queries read what is at most 0 to {MOST_MINUTES:,} minutes behind.",
            field="max_lag_minutes",
        )


def _record(
    action: str, row: Materialization, data: Mapping[str, object], *, by: str, now: datetime
) -> None:
    audit_record(
        f"materialized.{action}",
        actor=by,
        lake=row.lake,
        # No `table`: who sees the table with the result is not told the SQL that makes it.
        object_type="materialization",
        object_id=str(row),
        data=data,
        now=now,
    )
