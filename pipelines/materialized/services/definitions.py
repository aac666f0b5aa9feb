"""Defines, changes, pauses and deletes materializations.

Setting the same twice changes nothing. Nothing here touches the lake: the next refresh computes the
table, and one that was deleted here stays in the lake until somebody drops it as any other table.
"""

from collections.abc import Mapping
from datetime import datetime
from uuid import uuid4

from django.db import IntegrityError, transaction

from pipelines.materialized.domain.definition import Definition, read_definition
from pipelines.materialized.domain.refusals import Refused
from pipelines.materialized.models import EVERY_MINUTES
from pipelines.materialized.services.rights import check_place, check_sources, location_of
from pipelines.models import Materialization
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.audit.services import audit_record
from portal.connectors.metastore import Metastore
from portal.lake.errors import RuleViolation, StaleState
from portal.lake.names import TableName

LEAST_MINUTES, MOST_MINUTES = 1, 60 * 24 * 31
LONGEST_SQL = 20_000


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
    lake: str, name: str, sql: str, *, every_minutes: int = EVERY_MINUTES, user: User, now: datetime
) -> Materialization:
    """Define a materialization; it is computed soon. The same again changes nothing.

    Raises:
        NotVisible: the lake is none.
        RuleViolation: `materialized.definition`, `materialized.source`, `materialized.database`,
            `materialized.taken`, `materialized.every`, `name.table`, `name.grammar`.
        ExternalFailure: the metastore does not answer.
    """
    definition = definition_read(sql)
    _check_minutes(every_minutes)
    config = get_lake(lake)
    target = TableName.parse(config.lake, name.strip().lower())
    known = Materialization.objects.filter(lake=lake, db=target.db, table=target.table).first()
    if known is not None:
        return _same(known, sql, every_minutes, user)
    with Metastore.connect(config) as metastore:
        check_sources(metastore, config.lake, definition, user=user)
        location = location_of(metastore, target, user=user)
        if metastore.table_or_none(target) is not None:
            raise _taken(target)
    row = Materialization(
        lake=lake,
        db=target.db,
        table=target.table,
        location=location,
        identity=uuid4(),
        owner=user.username,
        sql=sql,
        every_minutes=every_minutes,
        set_by=user.username,
        set_at=now,
        next_at=now,
    )
    try:
        with transaction.atomic():
            row.save()
            _record("created", row, {"sql": sql}, by=user.username, now=now)
    except IntegrityError as error:
        raise _taken(target) from error
    return row


def materialization_edit(
    row: Materialization,
    sql: str,
    *,
    every_minutes: int,
    version: int | None,
    user: User,
    now: datetime,
) -> None:
    """Change a definition, which is computed in full then, or how often it is refreshed.

    Whoever changes it owns it from then on: it is read by their rights.

    Raises:
        RuleViolation: as for `materialization_create`.
        StaleState: `materialized.changed`.
    """
    definition = definition_read(sql)
    _check_minutes(every_minutes)
    config = get_lake(row.lake)
    with Metastore.connect(config) as metastore:
        check_sources(metastore, config.lake, definition, user=user)
        location_of(metastore, row.hive, user=user)
        check_place(metastore, row.hive, location=row.location)
    with transaction.atomic():
        known = _locked(row, version)
        if (known.sql, known.every_minutes) == (sql, every_minutes):
            return
        known.sql, known.every_minutes, known.owner = sql, every_minutes, user.username
        known.version += 1
        known.set_by, known.set_at, known.next_at = user.username, now, now
        known.save()
        _record("edited", known, {"sql": sql}, by=user.username, now=now)


def materialization_pause(row: Materialization, *, paused: bool, user: User, now: datetime) -> None:
    """Stop refreshing on schedule, or go on; the same twice changes nothing."""
    with transaction.atomic():
        rows = Materialization.objects.filter(pk=row.pk, is_paused=not paused)
        if rows.update(is_paused=paused, next_at=now):
            _record("paused" if paused else "resumed", row, {}, by=user.username, now=now)


def materialization_delete(
    row: Materialization, *, typed: str, version: int | None, user: User, now: datetime
) -> None:
    """Delete a materialization from the portal with its history; its table stays in the lake.

    Raises:
        RuleViolation: `materialized.typed`, its name was not typed.
        StaleState: `materialized.changed`.
    """
    if typed.strip() != str(row):
        raise RuleViolation("materialized.typed", f"Type {row} to delete it.", field="typed")
    with transaction.atomic():
        known = _locked(row, version)
        _record("deleted", known, {"sql": known.sql}, by=user.username, now=now)
        known.delete()


def _locked(row: Materialization, version: int | None) -> Materialization:
    known = Materialization.objects.select_for_update().filter(pk=row.pk).first()
    if known is None or known.version != version:
        raise StaleState(
            "materialized.changed",
            f"{row} was changed since you loaded the page. Reload it, then change it.",
        )
    return known


def _same(row: Materialization, sql: str, every_minutes: int, user: User) -> Materialization:
    if (row.sql, row.every_minutes, row.owner) == (sql, every_minutes, user.username):
        return row
    raise _taken(row.hive)


def _taken(target: TableName) -> RuleViolation:
    return RuleViolation(
        "materialized.taken",
        f"There is a table or materialization {target} already. Choose another name.",
        field="name",
    )


def _check_minutes(every_minutes: int) -> None:
    if not LEAST_MINUTES <= every_minutes <= MOST_MINUTES:
        raise RuleViolation(
            "materialized.every",
            f"Refresh every {LEAST_MINUTES} to {MOST_MINUTES:,} minutes.",
            field="every_minutes",
        )


def _record(
    action: str, row: Materialization, data: Mapping[str, object], *, by: str, now: datetime
) -> None:
    audit_record(
        f"materialized.{action}",
        actor=by,
        lake=row.lake,
        object_type="table",
        object_id=str(row),
        data=data,
        now=now,
    )
