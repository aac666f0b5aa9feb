"""Finds the tables and columns that a cube's definition names, and reads joined tables.

Columns are found by field id once it is known, so a renamed one is read under its old name.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from optimizer.cubes.domain.definition import FACT, Definition, Join
from optimizer.iceberg.access.jobs.iceberg import IcebergTable, open_table
from portal.lake.errors import RuleViolation
from portal.lake.names import quoted


@dataclass(frozen=True)
class Sources:
    """The tables of a cube as they were opened; `definition` has every field id and uuid."""

    definition: Definition
    tables: Mapping[str, IcebergTable]

    @property
    def fact(self) -> IcebergTable:
        """The table that the cube is of."""
        return self.tables[FACT]

    def columns_of(self, alias: str) -> dict[str, str]:
        """Return the columns of one alias: the name in the definition to the name now, as SQL."""
        schema = self.tables[alias].java.schema()
        found = {}
        for reference in self.definition.references():
            of, _, name = reference.partition(".")
            if of == alias:
                field = schema.findField(self.definition.columns[reference])
                found[name] = quoted(str(field.name()))
        return found

    def joined_rows(self, join: Join, *, snapshot_id: int | None = None) -> DataFrame:
        """Return a joined table's columns at a snapshot, as it was opened if none is given."""
        table = self.tables[join.alias]
        at = table.snapshot_id if snapshot_id is None else snapshot_id
        read = table.spark.read.format("iceberg")
        if at:
            read = read.option("snapshot-id", str(at))
        rows = read.load(table.sql)
        # A read of a snapshot has the schema of then, so names are those of that schema.
        schema = table.java.schemas().get(table.java.snapshot(at).schemaId()) if at else None
        columns = {}
        for name, now in self.columns_of(join.alias).items():
            field_id = self.definition.columns[f"{join.alias}.{name}"]
            field = schema.findField(field_id) if schema is not None else None
            columns[name] = quoted(str(field.name())) if field is not None else now
        return rows.select(*(F.expr(sql).alias(name) for name, sql in columns.items()))


def find_sources(fact: IcebergTable, definition: Definition) -> Sources:
    """Open all tables of a cube and resolve its columns.

    Raises:
        RuleViolation: `cube.column_gone`, `cube.table_replaced`, `cube.column_type`.
    """
    tables = {FACT: fact}
    for one in definition.joins:
        db, _, name = one.table.partition(".")
        tables[one.alias] = open_table(fact.spark, db, name)
    named = {FACT: definition.table_uuid, **{one.alias: one.uuid for one in definition.joins}}
    for alias, uuid in named.items():
        if uuid and tables[alias].uuid != uuid:
            raise RuleViolation(
                "cube.table_replaced",
                f"{tables[alias].name} is another table than the one that the cube "
                f"{definition.name} was defined on; define it again.",
                table=tables[alias].name,
            )
    columns = {one: _field_id(tables, definition, one) for one in definition.references()}
    joins = tuple(replace(one, uuid=tables[one.alias].uuid) for one in definition.joins)
    whole = replace(definition, columns=columns, joins=joins, table_uuid=fact.uuid)
    return Sources(whole, tables)


def check_types(definition: Definition, rows: DataFrame) -> None:
    """Refuse a cube of which an expression has another type than declared.

    Raises:
        RuleViolation: `cube.column_type`.
    """
    declared = [(one.expression, one.type) for one in definition.dimensions]
    declared += [(one.expression, one.type) for one in definition.measures]
    for text, wanted in declared:
        found = rows.select(F.expr(text)).schema.fields[0].dataType.simpleString()
        if found != wanted:
            raise RuleViolation(
                "cube.column_type",
                f"{text} of the cube {definition.name} is {found} now and was defined "
                f"as {wanted}; define the cube again.",
                column=text,
            )


def _field_id(tables: Mapping[str, IcebergTable], definition: Definition, reference: str) -> int:
    alias, _, name = reference.partition(".")
    schema: Any = tables[alias].java.schema()
    known = definition.columns.get(reference)
    if known is not None:
        field = schema.findField(known)
    else:
        field = schema.asStruct().field(name) or schema.asStruct().caseInsensitiveField(name)
    if field is None:
        raise RuleViolation(
            "cube.column_gone",
            f"{tables[alias].name} has no column {name} any more, which the cube "
            f"{definition.name} uses; define the cube again without it.",
            column=name,
        )
    return int(field.fieldId())
