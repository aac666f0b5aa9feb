"""Checks a cube's definition against the schemas of its tables, and adds what only they tell.

Field ids, uuids and types go into the definition, so that a renamed column is found again and a
table of the same name is not taken for the one that was meant.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from optimizer.cubes.domain.definition import FACT, parse
from optimizer.cubes.domain.expressions import columns_of
from optimizer.cubes.domain.types import Function, is_dimension_type, unfit
from optimizer.iceberg.access.jobs.iceberg import IcebergTable, open_table
from portal.lake.errors import PortalError, RuleViolation


@dataclass(frozen=True)
class JoinedTable:
    """A joined table with the columns that the cube uses."""

    alias: str
    table: IcebergTable
    on: Sequence[tuple[str, str]]
    frame: DataFrame


@dataclass
class Checked:
    """A definition with what the tables' schemas tell; without problems it can be computed."""

    definition: dict[str, Any]
    n_rows: int
    joins: list[JoinedTable] = field(default_factory=list)
    fact_columns: list[str] = field(default_factory=list)
    problems: list[dict[str, str]] = field(default_factory=list)

    @property
    def dimensions(self) -> list[dict[str, Any]]:
        """The dimensions, with their types."""
        return list(self.definition["dimensions"])

    @property
    def measures(self) -> list[dict[str, Any]]:
        """The measures, with their types."""
        return list(self.definition["measures"])

    def no(self, name: str, message: str) -> None:
        """Say what is wrong at a field of the form."""
        self.problems.append({"field": name, "message": message})


def check_definition(fact: IcebergTable, definition: Mapping[str, Any]) -> Checked:
    """Return a definition with uuids, field ids and types; what is wrong is in `problems`."""
    checked = Checked(deepcopy(dict(definition)), fact.n_rows)
    checked.definition["table"] = {"name": fact.name, "uuid": fact.uuid}
    tables = {FACT: fact}
    for join in checked.definition["joins"]:
        db, _, name = join["table"].partition(".")
        try:
            tables[join["alias"]] = open_table(fact.spark, db, name)
        except PortalError as error:
            checked.no("joins", f"{join['table']}: {error.message}")
            continue
        join["uuid"] = tables[join["alias"]].uuid
    if checked.problems:
        return checked
    names = _field_ids(checked, tables)
    if checked.problems:
        return checked
    checked.fact_columns = names[FACT]
    for join in checked.definition["joins"]:
        table = tables[join["alias"]]
        columns = [F.col(f"`{one}`") for one in names[join["alias"]]]
        frame = fact.spark.table(table.sql).select(*columns)
        on = [(left, key) for left, key in join["on"]]
        checked.joins.append(JoinedTable(join["alias"], table, on, frame))
    _types(checked, tables, names)
    return checked


def _uses(definition: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield the field of the form, alias and name of every column that a definition uses."""
    for join in definition["joins"]:
        for left, key in join["on"]:
            alias, _, name = left.partition(".")
            yield "joins", alias, name
            yield "joins", join["alias"], key
    for part in ("dimensions", "measures"):
        for one in definition[part]:
            for alias, name in columns_of(one["expression"]):
                yield part, alias, name


def _field_ids(checked: Checked, tables: Mapping[str, IcebergTable]) -> dict[str, list[str]]:
    """Fill `columns`; returns the used columns of each table."""
    ids: dict[str, int] = {}
    names: dict[str, list[str]] = {alias: [] for alias in tables}
    for part, alias, name in dict.fromkeys(_uses(checked.definition)):
        found = tables[alias].java.schema().caseInsensitiveFindField(name)
        if found is None:
            checked.no(part, f"{tables[alias].name} has no column {name}.")
            continue
        ids[f"{alias}.{name}"] = int(found.fieldId())
        if name not in names[alias]:
            names[alias].append(name)
    checked.definition["columns"] = ids
    return names


def _types(
    checked: Checked, tables: Mapping[str, IcebergTable], names: Mapping[str, Sequence[str]]
) -> None:
    """Fill the types of dimensions and measures, and refuse what cannot be computed exactly."""
    spark = tables[FACT].spark
    rows = spark.table(tables[FACT].sql).alias(FACT)
    for one in checked.joins:
        rows = rows.crossJoin(one.frame.alias(one.alias))
    for part in ("dimensions", "measures"):
        for one in checked.definition[part]:
            try:
                kind = rows.select(F.expr(one["expression"]).alias("x")).schema["x"].dataType
            except AnalysisException as error:
                words = str(error).splitlines()[0][:200]
                checked.no(part, f"{one['name']}: {words}")
                continue
            one["type"] = kind.simpleString()
            if message := _unfit(part, one):
                checked.no(part, f"{one['name']}: {message}")
    if not checked.problems:
        try:
            parse(checked.definition)
        except RuleViolation as error:
            checked.no("name", error.message)


def _unfit(part: str, one: Mapping[str, Any]) -> str:
    """Say why a type does not serve; empty where it does."""
    if part == "dimensions":
        if is_dimension_type(one["type"]):
            return ""
        return f"a cube is not grouped by {one['type']}; cast it, a float to a decimal."
    reasons = (unfit(Function(name), one["type"]) for name in one["functions"])
    return next((f"{one['type']}: {reason}." for reason in reasons if reason), "")
