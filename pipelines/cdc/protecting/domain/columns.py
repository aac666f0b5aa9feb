"""Refuses protections and partition columns that a table cannot have."""

from collections.abc import Collection, Mapping

from pipelines.cdc.changes.domain.schemas import TableSchema
from pipelines.cdc.protecting.domain.protections import Method, Protection
from pipelines.cdc.schema.domain.types import lake_type, parse_type
from portal.lake.errors import RuleViolation

_WITH_YEAR = frozenset({"date", "timestamp"})
_PARTITIONING = frozenset({"string", "date", "int", "bigint"})


def lake_types(schema: TableSchema) -> dict[str, str]:
    """Return the lake's types of a table's columns by the source's names."""
    return {one.name: lake_type(parse_type(one.type)) for one in schema.columns}


def check_table(
    schema: TableSchema, protections: Mapping[str, Protection], partition: str = ""
) -> None:
    """Make sure that a table may be protected and partitioned so.

    Raises:
        RuleViolation: `cdc.protection`, `cdc.partition`, with the column.
    """
    types = lake_types(schema)
    name = f"{schema.db}.{schema.table}"
    if partition:
        check_partition(name, partition, types)
    for column, protection in protections.items():
        check_column(name, column, protection, types, addressing={*schema.key, partition})


def check_partition(table: str, column: str, types: Mapping[str, str]) -> None:
    """Make sure that a column can partition; `types` are the lake's by the source's names."""
    if column not in types:
        raise RuleViolation("cdc.partition", f"{table} has no column {column} to partition by.")
    if types[column] not in _PARTITIONING:
        raise RuleViolation(
            "cdc.partition",
            f"{table} cannot be partitioned by {column}, which is {types[column]} in the lake: "
            "choose a column that is string, date, int or bigint.",
        )


def check_column(
    table: str,
    column: str,
    protection: Protection,
    types: Mapping[str, str],
    *,
    addressing: Collection[str] = (),
) -> None:
    """Make sure that a column can be protected so; `addressing` are those by which rows lie."""
    if column not in types:
        raise RuleViolation("cdc.protection", f"{table} has no column {column} to protect.")
    if column in addressing and not protection.may_address:
        raise RuleViolation(
            "cdc.protection",
            f"{column} of {table} is of its key or its partitioning: leave it plain, or choose "
            "deterministic encryption.",
        )
    if protection.method is Method.YEAR and types[column] not in _WITH_YEAR:
        raise RuleViolation(
            "cdc.protection", f"{column} of {table} is no date or timestamp that has a year."
        )
