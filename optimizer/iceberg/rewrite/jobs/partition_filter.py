"""Builds a condition on a table's columns that keeps an Iceberg action to some partitions.

It may let more through (fields of transforms that are not known here are left out), never less.
"""

import re
from collections.abc import Sequence
from functools import reduce
from typing import Any

from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.iceberg.rewrite.jobs.planning import PlannedPartition

MOST = 300
"""More partitions than this are not told apart: the whole table is taken."""
_TRANSFORM = re.compile(r"(identity|year|month|day|hour|bucket|truncate)(?:\[(\d+)\])?")


def filter_of(table: IcebergTable, partitions: Sequence[PlannedPartition]) -> Any:
    """Return Iceberg's expression that holds for the rows of these partitions."""
    expressions = table.jvm.org.apache.iceberg.expressions.Expressions
    if not 0 < len(partitions) <= MOST:
        return expressions.alwaysTrue()
    parts = [_condition(table, expressions, one) for one in partitions]
    return reduce(getattr(expressions, "or"), parts)


def _condition(table: IcebergTable, expressions: Any, partition: PlannedPartition) -> Any:
    spec = table.java.specs().get(partition.spec_id)
    values = partition.tasks.get(partition.files[0].n).file().partition()
    any_class = table.jvm.java.lang.Class.forName("java.lang.Object")
    found = expressions.alwaysTrue()
    for n, field in enumerate(spec.fields()):
        name = table.java.schema().findColumnName(field.sourceId())
        known = _TRANSFORM.fullmatch(str(field.transform()))
        if name is None or known is None:
            continue
        term = _term(expressions, str(name), *known.groups())
        value = values.get(n, any_class)
        is_in = expressions.isNull(term) if value is None else expressions.equal(term, value)
        found = getattr(expressions, "and")(found, is_in)
    return found


def _term(expressions: Any, name: str, transform: str, width: str | None) -> Any:
    if transform == "identity":
        return expressions.ref(name)
    make = getattr(expressions, transform)
    return make(name) if width is None else make(name, int(width))
