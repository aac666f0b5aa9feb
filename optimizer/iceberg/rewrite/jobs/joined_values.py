"""Adds the values of joined tables to rows that are put in order by them, and takes them away.

The rows written are exactly the rows read: each joined table is made unique by its key first, and a
row without a partner is kept with nulls. Of a key that is there several times one row counts.
A joined table is read at the snapshot that it has when the work begins, whatever comes later.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from optimizer.cubes.domain.declared_joins import DeclaredJoins, JoinedColumn, is_joined
from optimizer.cubes.domain.definition import FACT, Join
from optimizer.iceberg.access.jobs.errors import clear_errors
from optimizer.iceberg.access.jobs.iceberg import IcebergTable, open_table
from optimizer.iceberg.rewrite.domain.layouts import NO_LAYOUT, Layout, LayoutKind, refuse_columns
from portal.lake.errors import RuleViolation
from portal.lake.names import quoted

# A table of more rows is joined by sort or hash, as Spark decides.
_MOST_BROADCAST = 1_000_000
_PREFIX = "__lakewarden_joined"


@dataclass(frozen=True)
class JoinedValues:
    """The columns of joined tables that a layout names; `tables` by alias, as they were opened."""

    columns: tuple[JoinedColumn, ...]
    tables: Mapping[str, IcebergTable]

    def __bool__(self) -> bool:
        return bool(self.columns)

    @property
    def joins(self) -> tuple[Join, ...]:
        """The joins of all columns, each once, those that others hang on first."""
        return tuple(dict.fromkeys(join for one in self.columns for join in one.path))

    def added(self, rows: DataFrame) -> DataFrame:
        """Return the same rows with the value of each column, under its name in the layout."""
        own = [F.col(quoted(name)) for name in rows.columns]
        for join in self.joins:
            rows = self._joined(rows, join)
        values = [
            F.col(_value(one.alias, one.column)).alias(one.text)
            for one in dict.fromkeys(self.columns)
        ]
        return rows.select(*own, *values)

    def removed(self, rows: DataFrame) -> DataFrame:
        """Return rows without what `added` added to them."""
        return rows.drop(*(one.text for one in self.columns))

    def _joined(self, rows: DataFrame, join: Join) -> DataFrame:
        lefts = [F.col(_left(left)) for left, _ in join.on]
        types = rows.select(*lefts).dtypes
        lookup = self._lookup(join, [of for _, of in types])
        same = [left == F.col(_key(join, n)) for n, left in enumerate(lefts)]
        on = reduce(Column.__and__, same)
        return rows.join(lookup, on, "left").drop(*(_bare_key(join, n) for n in range(len(lefts))))

    def _lookup(self, join: Join, types: list[str]) -> DataFrame:
        """Return the needed columns of a joined table, one row for each key.

        Keys are cast to the type of the rows' side *before* they are made unique: '1' and '01' are
        two strings, and one number.
        """
        table = self.tables[join.alias]
        keys = [
            F.expr(f"try_cast({quoted(right)} AS {of})").alias(_bare_key(join, n))
            for n, ((_, right), of) in enumerate(zip(join.on, types, strict=True))
        ]
        values = {
            name: F.col(quoted(name)).alias(_bare_value(join.alias, name))
            for name in self.needed(join.alias)
        }
        read = table.spark.read.format("iceberg")
        if table.snapshot_id:
            read = read.option("snapshot-id", str(table.snapshot_id))
        found = read.load(table.sql).select(*keys, *values.values())
        names = [_bare_key(join, n) for n in range(len(keys))]
        held = F.struct(*(F.col(quoted(_bare_value(join.alias, name))) for name in values))
        found = found.dropna(subset=[quoted(name) for name in names])
        unique = found.groupBy(*(F.col(quoted(name)) for name in names)).agg(F.min(held).alias("v"))
        lookup = unique.select(*(F.col(quoted(name)) for name in names), "v.*")
        return F.broadcast(lookup) if table.n_rows <= _MOST_BROADCAST else lookup

    def needed(self, alias: str) -> tuple[str, ...]:
        """Return the columns of a joined table that order rows, or on which other joins hang."""
        of_joins = (left.partition(".") for join in self.joins for left, _ in join.on)
        named = [column for of, _, column in of_joins if of == alias]
        return tuple(
            dict.fromkeys([*named, *(one.column for one in self.columns if one.alias == alias)])
        )


def joined_values(table: IcebergTable, layout: Layout, joins: Iterable[Join]) -> JoinedValues:
    """Open the joined tables of which a layout names columns; none is opened otherwise.

    Raises:
        RuleViolation: `layout.join`, `layout.missing`, `layout.type`.
        PortalError: a joined table cannot be opened.
    """
    own = [str(one.name()) for one in table.java.schema().columns()]
    declared = DeclaredJoins({one.alias: one for one in joins})
    columns = tuple(declared.column(one) for one in layout.columns if is_joined(one, own))
    found = JoinedValues(columns, {})
    tables = {join.alias: _opened(table, join) for join in found.joins}
    found = JoinedValues(columns, tables)
    for join in found.joins:
        with clear_errors(join.table):
            _check_columns(tables[join.alias], {right for _, right in join.on})
            _check_columns(tables[join.alias], set(found.needed(join.alias)))
    _check_columns(table, {column for one in columns for column in one.keys})
    # Before any frame is made: Spark cannot make rows with such a value unique.
    types = _joined_types(found)
    refuse_columns(Layout(LayoutKind.SORT, tuple(types)) if types else NO_LAYOUT, types)
    return found


def _joined_types(found: JoinedValues) -> dict[str, str]:
    types = {}
    for one in found.columns:
        fields = found.tables[one.alias].java.schema().columns()
        known = {str(field.name()).lower(): str(field.type()) for field in fields}
        types[one.text] = known[one.column.lower()]
    return types


def _opened(table: IcebergTable, join: Join) -> IcebergTable:
    db, _, name = join.table.partition(".")
    return open_table(table.spark, db, name)


def _check_columns(table: IcebergTable, names: Iterable[str]) -> None:
    known = {str(one.name()).lower() for one in table.java.schema().columns()}
    missing = sorted(name for name in names if name.lower() not in known)
    if missing:
        raise RuleViolation(
            "layout.missing",
            f"{table.name} has no column {', '.join(missing)}, which the layout needs. Define the "
            "cube that declares the join again, or take the column out of the layout.",
            columns=missing,
        )


def _left(text: str) -> str:
    alias, _, column = text.partition(".")
    return quoted(column) if alias == FACT else _value(alias, column)


def _value(alias: str, column: str) -> str:
    return quoted(_bare_value(alias, column))


def _bare_value(alias: str, column: str) -> str:
    return f"{_PREFIX}.{alias}.{column}"


def _key(join: Join, number: int) -> str:
    return quoted(_bare_key(join, number))


def _bare_key(join: Join, number: int) -> str:
    return f"{_PREFIX}.{join.alias}#{number}"
