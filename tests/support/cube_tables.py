"""Cubes of Iceberg tables made by plain SQL: what the reader in the JVM is tested against."""

import gzip
import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from pyspark.sql import SparkSession

_STATES = {
    "count": "count({x})",
    "sum": "sum({x})",
    "min": "min({x})",
    "max": "max({x})",
    "distinct": "collect_set({x})",
    "sketch": "hll_sketch_agg({x}, 12)",
}


@dataclass(frozen=True)
class Joined:
    """A declared N:1 join: pairs of a qualified column and a column of the table."""

    alias: str
    table: str
    on: tuple[tuple[str, str], ...]


@dataclass
class SqlCube:
    """One cube, written by `GROUP BY` over the files of a table."""

    spark: SparkSession
    root: Path
    fact: str
    name: str
    dimensions: Mapping[str, str]
    measures: Mapping[str, tuple[str, Sequence[str]]]
    joins: Sequence[Joined] = ()
    stars: Sequence[str] = ()
    catalog: str = "plain"
    time_zone: str = "UTC"
    version: int = 1
    definition: dict[str, Any] = field(default_factory=dict)
    coverage: dict[str, Any] = field(default_factory=dict)
    #: Units, by the locations of their data files.
    units: dict[int, list[str]] = field(default_factory=dict)
    bounds: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def table(self) -> str:
        return f"{self.fact}__cube_{self.name}"

    def sql(self, statement: str) -> Any:
        return self.spark.sql(statement)

    def java(self, table: str) -> Any:
        jvm: Any = self.spark._jvm
        return jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(
            self.spark._jsparkSession, f"{self.catalog}.{table}"
        )

    def define(self, columns: Collection[str]) -> "SqlCube":
        """Write the definition; `columns` are all qualified columns that it uses."""
        tables = {"fact": self.fact, **{one.alias: one.table for one in self.joins}}
        schemas = {alias: self.java(table).schema() for alias, table in tables.items()}
        typed = self.sql(f"SELECT * FROM ({self._grouped('0', {})}) LIMIT 0").schema
        one = self.sql(
            "SELECT "
            + ", ".join(f"{x} AS {name}" for name, (x, _) in self.measures.items())
            + f" {self._from()} LIMIT 0"
        ).schema
        self.definition = {
            "format": "lakewarden-cube",
            "version": 1,
            "name": self.name,
            "definition_version": self.version,
            "table": {"name": self.fact, "uuid": self.java(self.fact).uuid().toString()},
            "time_zone": self.time_zone,
            "joins": [
                {
                    "alias": one.alias,
                    "table": one.table,
                    "uuid": self.java(one.table).uuid().toString(),
                    "on": [list(pair) for pair in one.on],
                }
                for one in self.joins
            ],
            "dimensions": [
                {"name": name, "expression": x, "type": typed[name].dataType.simpleString()}
                for name, x in self.dimensions.items()
            ],
            "measures": [
                {
                    "name": name,
                    "expression": x,
                    "type": one[name].dataType.simpleString(),
                    "functions": list(functions),
                }
                for name, (x, functions) in self.measures.items()
            ],
            "columns": {
                name: schemas[name.split(".")[0]].findField(name.split(".")[1]).fieldId()
                for name in columns
            },
        }
        if self.stars:
            self.definition["star_tree"] = {
                "max_leaf": 10,
                "dimensions": list(self.stars),
                "skip_star": [],
            }
        return self

    def _from(self) -> str:
        joins = [
            f"JOIN {self.catalog}.{one.table} {one.alias} ON "
            + " AND ".join(f"{left} = {one.alias}.{right}" for left, right in one.on)
            for one in self.joins
        ]
        return " ".join([f"FROM {self.catalog}.{self.fact} fact", *joins])

    def _grouped(self, unit: str, units: Mapping[int, Sequence[str]]) -> str:
        """Group by unit and dimensions; odd units hold every star besides, even ones the first."""
        names = list(self.dimensions)
        bits = {name: 1 << i for i, name in enumerate(names)}
        every = sum(bits[name] for name in self.stars)
        first = bits[self.stars[0]] if self.stars else 0
        states = [
            f"{_STATES[function].format(x=f'in_{name}')} AS {name}_{function}"
            for name, (_, functions) in self.measures.items()
            for function in functions
        ]
        sets = [0]
        for name in self.stars:
            sets += [mask | bits[name] for mask in sets]
        grouping = ", ".join(
            "(unit" + "".join(f", d_{n}" for n in names if not mask & bits[n]) + ")"
            for mask in sets
        )
        star = " + ".join([f"grouping(d_{name}) * {bits[name]}" for name in names] or ["0"])
        source = ", ".join(
            [f"{unit} AS unit"]
            + [f"{x} AS d_{name}" for name, x in self.dimensions.items()]
            + [f"{x} AS in_{name}" for name, (x, _) in self.measures.items()]
        )
        files = ", ".join(f"'{path}'" for paths in units.values() for path in paths)
        where = f" WHERE fact._file IN ({files})" if files else ""
        rows = (
            f"SELECT unit, CAST({star} AS INT) AS star, "
            + "".join(f"d_{name} AS {name}, " for name in names)
            + ", ".join(["count(*) AS rows", *states])
            + f" FROM (SELECT {source} {self._from()}{where})"
            + f" GROUP BY GROUPING SETS ({grouping})"
        )
        has = f"CASE WHEN unit % 2 = 1 THEN {every} ELSE {first} END"
        columns = ", ".join(
            ["unit", "star", f"CAST({has} AS INT) AS has", *names, "rows"]
            + [
                f"{name}_{function}"
                for name, (_, functions) in self.measures.items()
                for function in functions
            ]
        )
        return f"SELECT {columns} FROM ({rows}) WHERE unit % 2 = 1 OR star & ~{first} = 0"

    def build(self, units: Mapping[int, Sequence[str]]) -> "SqlCube":
        """Write the rows of these units beside those that are there."""
        cases = " ".join(
            f"WHEN fact._file IN ({', '.join(repr(path) for path in paths)}) THEN {unit}L"
            for unit, paths in units.items()
        )
        query = self._grouped(f"CASE {cases} END" if units else "0L", units)
        if not units:
            query = f"SELECT * FROM ({query}) WHERE false"
        exists = self.spark.catalog.tableExists(f"{self.catalog}.{self.table}")
        self.sql(
            f"INSERT INTO {self.catalog}.{self.table} {query}"
            if exists
            else f"CREATE TABLE {self.catalog}.{self.table} USING iceberg AS {query}"
        )
        self.units.update({unit: list(paths) for unit, paths in units.items()})
        return self

    def files(self, snapshot: int | None = None) -> dict[str, tuple[int, str]]:
        """Return records and fingerprint of deletes of each data file of a snapshot."""
        table = self.java(self.fact)
        scan = table.newScan() if snapshot is None else table.newScan().useSnapshot(snapshot)
        found: dict[str, tuple[int, str]] = {}
        tasks = scan.planFiles().iterator()
        while tasks.hasNext():
            task = tasks.next()
            deletes = sorted(
                one.location() + ("" if one.contentOffset() is None else f"@{one.contentOffset()}")
                for one in task.deletes()
            )
            digest = hashlib.sha256("\n".join(deletes).encode()).hexdigest()[:16]
            found[task.file().location()] = (
                task.file().recordCount(),
                digest if deletes else "",
            )
        return found

    def publish(self, *, exact: bool = True, **changed: Any) -> "SqlCube":
        """Write a coverage of the units as the fact table is now, and name it."""
        now = self.files()
        places = sorted({path for paths in self.units.values() for path in paths})
        known = {row[0]: row for row in self.coverage.get("files", [])}
        files = [known.get(path) or [path, *now.get(path, (0, "gone"))] for path in places]
        judged = {path: (rows, deletes) for path, rows, deletes in files}
        live = {
            unit: all(now.get(path) == judged[path] for path in paths)
            for unit, paths in self.units.items()
        }
        covered = {path for unit, paths in self.units.items() if live[unit] for path in paths}
        snapshots = {
            one.alias: {
                "uuid": self.java(one.table).uuid().toString(),
                "snapshot_ids": [self.java(one.table).currentSnapshot().snapshotId()],
            }
            for one in self.joins
        }
        cube = self.java(self.table)
        self.coverage = {
            "format": "lakewarden-cube-coverage",
            "version": 1,
            "definition_version": self.version,
            "table_uuid": self.java(self.fact).uuid().toString(),
            "cube_snapshot_id": cube.currentSnapshot().snapshotId(),
            "exact": exact,
            "snapshot_id": self.java(self.fact).currentSnapshot().snapshotId(),
            "dimensions": snapshots,
            "files": files,
            "units": [
                [unit, [places.index(path) for path in paths], 10, int(live[unit])]
                for unit, paths in self.units.items()
            ],
            "at_snapshot": {
                "covered_rows": sum(now[path][0] for path in covered),
                "uncovered_rows": sum(
                    rows for path, (rows, _) in now.items() if path not in covered
                ),
                "uncovered_files": len(set(now) - covered),
            },
            "bounds": self.bounds,
            **changed,
        }
        return self.name_coverage(gzip.compress(json.dumps(self.coverage).encode()))

    def name_coverage(self, data: bytes) -> "SqlCube":
        """Put these bytes where the cube's coverage is, and name the cube at its table."""
        folder = Path(self.java(self.table).location().removeprefix("file:"))
        folder = folder / "_lakewarden" / "coverage"
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{uuid4()}.json.gz"
        (folder / name).write_bytes(data)
        definition = json.dumps(self.definition).replace("\\", "\\\\").replace("'", "\\'")
        self.sql(
            f"ALTER TABLE {self.catalog}.{self.table} SET TBLPROPERTIES ("
            f"'lakewarden.cube.definition' = '{definition}', 'lakewarden.cube.coverage' = '{name}')"
        )
        named = self.java(self.fact).properties().get("lakewarden.cubes") or ""
        names = sorted({*filter(None, named.split(",")), self.table})
        self.sql(
            f"ALTER TABLE {self.catalog}.{self.fact} "
            f"SET TBLPROPERTIES ('lakewarden.cubes' = '{','.join(names)}')"
        )
        return self
