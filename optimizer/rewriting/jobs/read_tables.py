"""The program `read_tables`: reads what rewriting must know of tables, and none of their data.

Of each table its snapshot and columns; of each of its cubes the definition, what it covers at that
snapshot, and which data files it does not. A cube that cannot be used says why.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import SparkSession

from optimizer.cubes.domain.coverage import (
    Coverage,
    CoveredFile,
    judge,
)
from optimizer.cubes.domain.coverage import parse as parse_coverage
from optimizer.cubes.domain.definition import (
    COVERAGE_PROPERTY,
    CUBES_PROPERTY,
    DEFINITION_PROPERTY,
    FACT,
    Definition,
)
from optimizer.cubes.domain.definition import parse as parse_definition
from optimizer.iceberg.access.jobs.errors import clear_errors
from optimizer.iceberg.access.jobs.iceberg import IcebergTable, metadata_of, open_table, use_iceberg
from optimizer.iceberg.cubing.jobs.table_files import covered_files
from optimizer.iceberg.rewrite.jobs.planning import TaskColumns, all_tasks
from optimizer.matching.domain.views import View, ViewDimension, ViewMeasure
from optimizer.rewriting.domain.cubes import StoredCube, cube_facts, view_of, whole_columns
from optimizer.rewriting.domain.facts import CubeFacts, TableFacts
from optimizer.rewriting.jobs.hudi_tables import hudi_facts
from portal.lake.errors import PortalError, RuleViolation
from portal.lake.names import quoted
from portal.spark.job import JobContext


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Read the tables of the request, and those that their cubes join.

    `tables` are names; `hudi` has the locations of those that are Hudi tables.

    Raises:
        PortalError: a table of the request is gone, or of another format than said.
    """
    use_iceberg(spark, job.config)
    reader = Reader(spark)
    asked = [str(name) for name in job.params["tables"]]
    hudi = {str(name): str(place) for name, place in job.params.get("hudi", {}).items()}
    waiting = list(asked)
    done: dict[str, TableFacts] = {}
    for n, name in enumerate(waiting):
        job.check_control()
        job.progress("read", n, len(waiting), name)
        try:
            if name in hudi:
                done[name] = hudi_facts(spark, job, name, hudi[name])
            else:
                done[name] = reader.table(name)
        except PortalError:
            # A joined table that cannot be read: its cube says so, and is not used.
            if name in asked:
                raise
            continue
        for cube in done[name].cubes:
            waiting += [one.table for one in cube.view.joins if one.table not in waiting]
    return {"tables": {name: one.to_json() for name, one in done.items()}}


class Reader:
    """Reads tables through one session; each table is opened once, at one state."""

    def __init__(self, spark: SparkSession) -> None:
        """Begin with no table read."""
        self.spark = spark
        self._opened: dict[str, IcebergTable] = {}

    def table(self, name: str) -> TableFacts:
        """Read one table with its cubes.

        Raises:
            PortalError: it is gone, or no Iceberg table.
        """
        table = self.opened(name)
        with clear_errors(table.name):
            totals = table.totals()
            names = table.properties.get(CUBES_PROPERTY, "").split(",")
            cubes = tuple(self._cube(table, one.strip()) for one in names if one.strip())
            types = self._types(table)
            return TableFacts(
                name,
                table.uuid,
                table.snapshot_id or None,
                metadata_of(table),
                types,
                self._bounds(table, whole_columns(cubes, types)),
                _has_its_columns(table),
                totals.get("n_files", 0),
                totals.get("n_bytes", 0),
                table.n_rows,
                cubes,
            )

    def opened(self, name: str) -> IcebergTable:
        """Return a table as it was when this reader first opened it.

        Raises:
            PortalError: it is gone, or no Iceberg table.
        """
        if name not in self._opened:
            db, _, table = name.partition(".")
            self._opened[name] = open_table(self.spark, db, table)
        return self._opened[name]

    def _types(self, table: IcebergTable) -> dict[str, str]:
        schema = self.spark.table(table.sql).schema
        return {one.name.lower(): one.dataType.simpleString() for one in schema.fields}

    def _bounds(self, table: IcebergTable, columns: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Return the bounds of whole columns from the manifests, where every file tells them."""
        if table.snapshot is None or not columns:
            return {}
        asked = []
        for column in columns:
            of = f"readable_metrics.{quoted(column)}"
            # A file says nothing of a column, or that all of it is null.
            lacks = f"{of}.lower_bound IS NULL OR {of}.upper_bound IS NULL"
            holds = f"coalesce({of}.null_value_count < {of}.value_count, true)"
            asked.append(
                f"min({of}.lower_bound), max({of}.upper_bound), count_if(({lacks}) AND {holds})"
            )
        files = f"{table.sql}.data_files VERSION AS OF {table.snapshot_id}"
        row = self.spark.sql(" ".join(["SELECT", ", ".join(asked), "FROM", files])).collect()[0]
        found = {}
        for n, column in enumerate(columns):
            low, high, n_silent = row[3 * n : 3 * n + 3]
            if not n_silent:
                found[column] = (int(low or 0), int(high or 0))
        return found

    def _cube(self, table: IcebergTable, name: str) -> CubeFacts:
        view = View(name.partition("__cube_")[2] or name, table.name)
        try:
            cube = self.opened(name)
            definition = parse_definition(cube.properties.get(DEFINITION_PROPERTY, ""))
            view = self._view(table, definition)
            return self._facts(table, cube, definition, view)
        except PortalError as error:
            opened = self._opened.get(name)
            place = metadata_of(opened) if opened is not None else ""
            return CubeFacts(view, name, 0, place, problem=error.message)

    def _view(self, table: IcebergTable, definition: Definition) -> View:
        if (definition.table.lower(), definition.table_uuid) != (table.name, table.uuid):
            raise RuleViolation("cube.foreign", "it is of another table that had this name")
        tables = {FACT: table}
        for one in definition.joins:
            tables[one.alias] = self.opened(one.table.lower())
            if tables[one.alias].uuid != one.uuid:
                raise RuleViolation("cube.foreign", f"{one.table} is another table by now")
        view = view_of(definition, {alias: _fields(one) for alias, one in tables.items()})
        self._check_types(view, tables)
        return view

    def _check_types(self, view: View, tables: Mapping[str, IcebergTable]) -> None:
        """Ask Spark for the types that the expressions have by now; no data is read."""
        columns: list[ViewDimension | ViewMeasure] = [*view.dimensions, *view.measures]
        # The expressions were checked when the definition was read: scalar, over named columns.
        asked = ", ".join(f"{one.expression} AS c{n}" for n, one in enumerate(columns))
        of = ", ".join(f"{table.sql} AS {alias}" for alias, table in tables.items())
        with clear_errors(view.table):
            schema = self.spark.sql(" ".join(["SELECT", asked, "FROM", of])).schema
        for one, found in zip(columns, schema.fields, strict=True):
            if found.dataType.simpleString() != one.type:
                raise RuleViolation(
                    "cube.column_type",
                    f"{one.name} is a {found.dataType.simpleString()} by now, not a {one.type}; "
                    "define the cube again",
                )

    def _facts(
        self, table: IcebergTable, cube: IcebergTable, definition: Definition, view: View
    ) -> CubeFacts:
        place = cube.properties.get(COVERAGE_PROPERTY, "")
        if not place:
            raise RuleViolation("cube.coverage", "it has not been built yet")
        if not place.startswith(f"{cube.location}/_lakewarden/coverage/"):
            raise RuleViolation("cube.coverage", "its coverage lies outside of its own folder")
        coverage = parse_coverage(
            _read(cube, place),
            table_uuid=table.uuid,
            definition_version=definition.definition_version,
        )
        snapshot = cube.java.snapshot(coverage.cube_snapshot_id)
        if snapshot is None:
            raise RuleViolation("cube.coverage", "the snapshot that it is read at has expired")
        self._check_joined(coverage, definition)
        sizes: dict[str, int] = {}
        if coverage.snapshot_id == table.snapshot_id and not coverage.at_snapshot.uncovered_files:
            judged = judge(coverage, snapshot_id=table.snapshot_id)
        else:
            live, sizes = live_files(table)
            judged = judge(coverage, snapshot_id=table.snapshot_id, live=live)
        said = dict(snapshot.summary() or {})
        stored = StoredCube(
            metadata_of(cube),
            int(said.get("total-records") or 0),
            int(said.get("total-files-size") or 0),
        )
        return cube_facts(view, definition, coverage, judged, stored, sizes)

    def _check_joined(self, coverage: Coverage, definition: Definition) -> None:
        for one in definition.joins:
            known = coverage.joined.get(one.alias)
            if known is None or known.uuid != self.opened(one.table.lower()).uuid:
                raise RuleViolation("cube.coverage", f"it was built with another {one.table}")


def live_files(table: IcebergTable) -> tuple[list[CoveredFile], dict[str, int]]:
    """Return the data files of main's snapshot with their deletes, and their bytes."""
    if table.snapshot is None:
        return [], {}
    with clear_errors(table.name):
        tasks = all_tasks(table)
        files, sizes = covered_files(table.columns, TaskColumns(table.columns), tasks)
    return files, dict(zip([one.location for one in files], sizes, strict=True))


def _has_its_columns(table: IcebergTable) -> bool:
    """Whether reading the table's snapshot by its number gives the columns of today."""
    if table.snapshot is None or table.snapshot.schemaId() is None:
        return False
    return int(table.snapshot.schemaId()) == int(table.java.schema().schemaId())


def _fields(table: IcebergTable) -> dict[int, str]:
    return {
        int(one.fieldId()): str(one.name()) for one in table.listed(table.java.schema().columns())
    }


def _read(table: IcebergTable, place: str) -> bytes:
    with clear_errors(table.name):
        stream = table.java.io().newInputFile(place).newStream()
        try:
            return bytes(stream.readAllBytes())
        finally:
            stream.close()
