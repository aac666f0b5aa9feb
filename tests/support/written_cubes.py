"""A star schema and a cube of it written by plain SQL, as docs/cubes.md has them.

The builder of cubes is not asked: what reads cubes is tested against the page alone.
"""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from optimizer.cubes.domain.coverage import (
    AtSnapshot,
    Bound,
    Coverage,
    CoveredFile,
    JoinedTable,
    Unit,
    serialise,
)
from optimizer.cubes.domain.definition import (
    COVERAGE_PROPERTY,
    CUBES_PROPERTY,
    DEFINITION_PROPERTY,
    Definition,
    Dimension,
    Join,
    Measure,
    StarTree,
)
from optimizer.cubes.domain.definition import serialise as definition_json
from optimizer.iceberg.access.jobs.iceberg import IcebergTable, open_table
from optimizer.rewriting.jobs.read_tables import live_files
from tests.support.iceberg_lake import IcebergLake

PARTS = "(0, 'alpha'), (1, 'beta'), (2, NULL), (3, 'alpha'), (4, 'Ünï''x')"


@dataclass
class StarSchema:
    """A fact table of some files and the table of its parts."""

    lake: IcebergLake
    name: str

    @property
    def fact(self) -> str:
        return f"{self.lake.db}.{self.name}"

    @property
    def part(self) -> str:
        return f"{self.lake.db}.{self.name}_part"

    @property
    def opened(self) -> IcebergTable:
        return open_table(self.lake.spark, self.lake.db, self.name)

    def sql(self, *parts: str) -> None:
        """Run a statement, given in parts; {fact} and {part} are the tables."""
        statement = " ".join(parts)
        self.lake.spark.sql(statement.format(fact=f"lake.{self.fact}", part=f"lake.{self.part}"))

    def make(self, n_files: int, n_rows: int = 60) -> "StarSchema":
        self.sql("CREATE TABLE {part} (p_key int, p_brand string) USING iceberg")
        self.sql("INSERT INTO {part} VALUES", PARTS)
        self.sql(
            "CREATE TABLE {fact} (f_part int, day date, qty int, rev int, price decimal(10,2), "
            "big bigint, note string) USING iceberg TBLPROPERTIES ('format-version' = '2', "
            "'write.delete.mode' = 'merge-on-read')"
        )
        for n in range(n_files):
            self.append(n, n_rows)
        return self

    def append(self, seed: int, n_rows: int = 60) -> None:
        """Add one file of rows; of each column some are NULL."""
        self.sql(
            "INSERT INTO {fact} SELECT",
            f"int(rand({seed}1) * 5), "
            f"date_add(date'2023-11-20', int(rand({seed}2) * 200)), "
            f"if(rand({seed}3) < 0.1, NULL, int(rand({seed}4) * 6)), "
            f"if(rand({seed}5) < 0.1, NULL, int(rand({seed}6) * 2000) - 1000), "
            f"if(rand({seed}7) < 0.1, NULL, cast(rand({seed}8) * 2000 - 1000 AS decimal(10,2))), "
            f"bigint(rand({seed}9) * 1000000), 'n'",
            f"FROM range(0, {n_rows}, 1, 1)",
        )

    def definition(self) -> Definition:
        spark = self.lake.spark
        part = open_table(spark, self.lake.db, f"{self.name}_part")
        fields = {f"fact.{name}": n for n, name in _fields(self.opened)}
        fields |= {f"part.{name}": n for n, name in _fields(part)}
        found = Definition(
            "c",
            self.fact,
            (
                Dimension("brand", "part.p_brand", "string"),
                Dimension("day", "fact.day", "date"),
                Dimension("qty", "fact.qty", "int"),
                Dimension("year", "year(fact.day)", "int"),
                Dimension("month", "trunc(fact.day, 'MM')", "date"),
            ),
            (
                Measure("rev", "fact.rev", "int", ("sum", "count", "min", "max", "distinct")),
                Measure("price", "fact.price", "decimal(10,2)", ("sum", "count", "min", "max")),
                Measure("big", "fact.big", "bigint", ("sum", "count")),
                Measure("both", "fact.rev * fact.qty", "int", ("sum", "count")),
            ),
            (Join("part", self.part, (("fact.f_part", "p_key"),), part.uuid),),
            StarTree(2),
            self.opened.uuid,
        )
        used = set(found.references())
        return replace(found, columns={name: n for name, n in fields.items() if name in used})


def _fields(table: IcebergTable) -> list[tuple[int, str]]:
    columns = table.listed(table.java.schema().columns())
    return [(int(one.fieldId()), str(one.name())) for one in columns]


def write_cube(schema: StarSchema, *, covered: float = 1.0, stray: bool = False) -> str:
    """Write a cube of the first files; `stray` adds rows of a build that died."""
    lake, definition = schema.lake, schema.definition()
    spark, table = lake.spark, schema.opened
    live, _ = live_files(table)
    live.sort(key=lambda one: one.location)
    files = live[: round(len(live) * covered)]
    name = definition.cube_table
    columns = [f"{one.name} {one.type}" for one in definition.dimensions]
    columns += [f"{one.name} {one.type}" for one in definition.states()]
    spark.sql(
        f"CREATE OR REPLACE TABLE lake.{name} (unit bigint, star int, has int, rows bigint, "
        f"{', '.join(columns)}) USING iceberg"
    )
    units = []
    for number, file in enumerate(files):
        n_rows = _write_unit(schema, definition, number, file.location)
        units.append(Unit(number, (number,), n_rows, is_live=True))
    if stray and files:
        _write_unit(schema, definition, 900, files[0].location)
    _publish(schema, definition, files, tuple(units), exact=not stray)
    return name


def _write_unit(schema: StarSchema, definition: Definition, number: int, location: str) -> int:
    spark, states = schema.lake.spark, definition.states()
    functions = {"distinct": "collect_set"}
    aggregates = [
        f"{functions.get(one.function, one.function)}({one.measure.expression}) AS {one.name}"
        for one in states
    ]
    keys = [f"{one.expression} AS {one.name}" for one in definition.dimensions]
    grouped = ", ".join(one.expression for one in definition.dimensions)
    parts = [
        "SELECT",
        f"{', '.join(keys)}, count(*) AS rows, {', '.join(aggregates)}",
        f"FROM lake.{schema.fact} AS fact JOIN lake.{schema.part} AS part",
        f"ON fact.f_part = part.p_key WHERE fact._file = '{location}' GROUP BY {grouped}",
    ]
    rows = spark.sql(" ".join(parts)).collect()
    n = len(definition.dimensions)
    leaves = [(tuple(row)[:n], tuple(row)[n:]) for row in rows]
    functions_of = ["count", *(one.function for one in states)]
    found = [
        (number, star, has, states[0], *keys, *states[1:])
        for star, has, keys, states in star_rows(leaves, functions_of, max_leaf=2)
    ]
    target = spark.table(f"lake.{definition.cube_table}")
    spark.createDataFrame(found, target.schema).writeTo(f"lake.{definition.cube_table}").append()
    return sum(states[0] for _, states in leaves)


Leaf = tuple[tuple[Any, ...], tuple[Any, ...]]


def star_rows(
    leaves: Sequence[Leaf], functions: Sequence[str], *, max_leaf: int
) -> Iterator[tuple[int, int, tuple[Any, ...], tuple[Any, ...]]]:
    """Yield star, has, dimensions and states of a star-tree, by the words of docs/cubes.md."""
    n = len(leaves[0][0]) if leaves else 0

    def split(rows: Sequence[Leaf], at: int, star: int, has: int) -> Iterator[Any]:
        if at == n or len(rows) <= max_leaf:
            yield from ((star, has, keys, states) for keys, states in rows)
            return
        children: dict[Any, list[Leaf]] = {}
        for row in rows:
            children.setdefault(row[0][at], []).append(row)
        more = 1 << at if len(children) > 1 else 0
        for child in children.values():
            yield from split(child, at + 1, star, has | more)
        if more:
            merged: dict[tuple[Any, ...], tuple[Any, ...]] = {}
            for keys, states in rows:
                starred = (*keys[:at], None, *keys[at + 1 :])
                known = merged.get(starred)
                merged[starred] = states if known is None else _merge(known, states, functions)
            yield from split(list(merged.items()), at + 1, star | more, has | more)

    yield from split(leaves, 0, 0, 0)


def _merge(one: Sequence[Any], other: Sequence[Any], functions: Sequence[str]) -> tuple[Any, ...]:
    found = []
    for left, right, function in zip(one, other, functions, strict=True):
        if left is None or right is None:
            found.append(right if left is None else left)
        elif function in ("min", "max"):
            found.append(min(left, right) if function == "min" else max(left, right))
        elif function == "distinct":
            found.append(sorted({*left, *right}))
        else:
            found.append(left + right)
    return tuple(found)


def _publish(
    schema: StarSchema,
    definition: Definition,
    files: Sequence[CoveredFile],
    units: tuple[Unit, ...],
    *,
    exact: bool,
) -> None:
    spark, table = schema.lake.spark, schema.opened
    db, _, name = definition.cube_table.partition(".")
    cube = open_table(spark, db, name)
    part = open_table(spark, schema.lake.db, f"{schema.name}_part")
    live, _ = live_files(table)
    covered = sum(one.records for one in files)
    everything = sum(one.records for one in live)
    coverage = Coverage(
        definition.definition_version,
        table.uuid,
        cube.snapshot_id,
        table.snapshot_id,
        exact,
        {"part": JoinedTable(part.uuid, (part.snapshot_id,))},
        tuple(files),
        units,
        AtSnapshot(covered, everything - covered, len(live) - len(files)),
        {"rev": Bound(1_000), "big": Bound(1_000_000), "both": Bound(6_000)},
    )
    place = f"{cube.location}/_lakewarden/coverage/{uuid.uuid4()}.json.gz"
    path = Path(place.removeprefix("file:"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(serialise(coverage))
    said = definition_json(definition).replace("'", "\\'")
    spark.sql(
        f"ALTER TABLE lake.{definition.cube_table} SET TBLPROPERTIES "
        f"('{DEFINITION_PROPERTY}' = '{said}', '{COVERAGE_PROPERTY}' = '{place}')"
    )
    schema.sql(
        f"ALTER TABLE {{fact}} SET TBLPROPERTIES ('{CUBES_PROPERTY}' = '{definition.cube_table}')"
    )
