"""Inserts many rows of a model by one statement, without Django's work for each single value.

The follower writes a row of three models for every commit of the lake. Django's `bulk_create`
prepares each value through four calls; here a value that the database takes as it is goes through
none, which halves the time. Defaults and conversions are those of the model's fields.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeAlias

from django.db import connection, models
from django.db.models.constants import OnConflict

_AT_ONCE = 500
_PLAIN = (models.CharField, models.TextField, models.IntegerField, models.FloatField)
Prepare = Callable[[Any], Any]
Field: TypeAlias = "models.Field[Any, Any]"


def insert_rows(rows: Sequence[models.Model], *, update: Sequence[str] = ()) -> None:
    """Insert rows; of one that is there already the `update` fields are written, or none.

    All of them have a primary key, or none of them. As with `bulk_create`, nobody learns the keys.
    """
    if not rows:
        return
    meta = rows[0]._meta
    has_key = rows[0].pk is not None
    fields = [one for one in meta.concrete_fields if has_key or not one.primary_key]
    readers = [(one.attname, _prepare(one)) for one in fields]
    head, tail = _statement(meta, fields, update)
    one_row = f"({', '.join(['%s'] * len(fields))})"
    size = min(_AT_ONCE, connection.ops.bulk_batch_size(fields, rows))
    with connection.cursor() as cursor:
        for start in range(0, len(rows), size):
            some = rows[start : start + size]
            values = [
                value if prepare is None else prepare(value)
                for row in some
                for name, prepare in readers
                for value in (getattr(row, name),)
            ]
            cursor.execute(f"{head} {', '.join([one_row] * len(some))} {tail}", values)


def _statement(meta: Any, fields: Sequence[Field], update: Sequence[str]) -> tuple[str, str]:
    """Return what stands before and behind the rows."""
    quote, ops = connection.ops.quote_name, connection.ops
    conflict = OnConflict.UPDATE if update else OnConflict.IGNORE
    columns = ", ".join(quote(str(one.column)) for one in fields)
    changed = [meta.get_field(name).column for name in update]
    # MySQL takes any unique key as the conflict and refuses to be told which.
    is_named = bool(update) and connection.features.supports_update_conflicts_with_target
    unique = [meta.pk.column] if is_named else []
    tail = ops.on_conflict_suffix_sql(fields, conflict, changed, unique)
    return (
        f"{ops.insert_statement(on_conflict=conflict)} {quote(meta.db_table)} ({columns}) VALUES",
        tail,
    )


def _prepare(field: Field) -> Prepare | None:
    """Return how a field's values are prepared; None where the database takes them as they are."""
    target = field
    while isinstance(target, models.ForeignKey):
        target = target.target_field
    if isinstance(target, (*_PLAIN, models.BooleanField)):
        return None
    known: dict[datetime, Any] = {}

    def prepare(value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, datetime):
            return field.get_db_prep_save(value, connection)
        # Most rows of a turn have the same instants.
        if value not in known:
            known[value] = field.get_db_prep_save(value, connection)
        return known[value]

    return prepare
