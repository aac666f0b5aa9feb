"""The cube's own table: created, appended to, and its coverage published by compare-and-set.

A coverage file is written first; then the property that names it is swapped against the metadata
that was read, so of two builders one starts over with what the other published.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from uuid import uuid4

from pyspark.sql import DataFrame

from optimizer.cubes.domain import coverage as coverages
from optimizer.cubes.domain.coverage import Coverage
from optimizer.cubes.domain.definition import (
    COVERAGE_PROPERTY,
    CUBES_PROPERTY,
    DEFINITION_PROPERTY,
    Definition,
    parse,
    serialise,
)
from optimizer.iceberg.access.jobs.errors import clear_errors
from optimizer.iceberg.access.jobs.iceberg import CATALOG, IcebergTable, open_table
from optimizer.iceberg.cubing.jobs.grouping import HAS, ROWS, STAR, UNIT
from optimizer.iceberg.indexing.jobs.hadoop_files import HadoopFiles
from portal.lake.errors import PortalError, RuleViolation, StaleState
from portal.lake.names import quoted
from portal.safety.failpoints import Failpoints
from portal.spark.java_errors import JAVA_ERRORS

_TRIES = 12
_BATCH_KEY = "lakewarden.cube.batch"
_SETTINGS = {
    "format-version": "2",
    "write.distribution-mode": "none",
    # Small row groups: engines skip those of other masks.
    "write.parquet.row-group-size-bytes": str(1 << 20),
    "write.metadata.delete-after-commit.enabled": "true",
    # The snapshot that coverage names outlives some commits of others.
    "history.expire.min-snapshots-to-keep": "20",
}

Change = Callable[[Coverage | None], Coverage]


class CubeStore:
    """One cube's table."""

    def __init__(
        self, fact: IcebergTable, definition: Definition, *, fail: Failpoints | None = None
    ) -> None:
        self._spark = fact.spark
        self._fact = fact
        self._definition = definition
        self._fail = fail or Failpoints()
        self.db, _, self.name = definition.cube_table.partition(".")
        self.sql = f"{CATALOG}.{quoted(self.db)}.{quoted(self.name)}"
        self.notes: list[str] = []

    def open(self) -> IcebergTable:
        """Open the cube's table as it is now."""
        return open_table(self._spark, self.db, self.name)

    def prepare(self) -> None:
        """Create the table, or put an empty one in the place of another version's.

        Raises:
            RuleViolation: `cube.name_taken`, a table of that name is not ours.
        """
        try:
            table = self.open()
        except PortalError as error:
            if error.code != "iceberg.gone":
                raise
            self._create("CREATE TABLE")
            return
        text = table.properties.get(DEFINITION_PROPERTY)
        if text is None:
            raise RuleViolation(
                "cube.name_taken",
                f"{table.name} exists and is no cube of ours; name the cube otherwise.",
                table=table.name,
            )
        if not self._is_same(text):
            self._create("CREATE OR REPLACE TABLE")

    def read(self, table: IcebergTable) -> Coverage | None:
        """Return the coverage that is valid for this definition; None where there is none."""
        name = table.properties.get(COVERAGE_PROPERTY, "")
        if not name:
            return None
        try:
            found = coverages.parse(
                self._files(table).read(name.rpartition("/")[2]),
                table_uuid=self._fact.uuid,
                definition_version=self._definition.definition_version,
            )
        except PortalError as error:
            if error.fields.get("why") == "newer":
                raise
            self.notes.append(f"The coverage of {table.name} is passed over: {error.message}")
            return None
        if found.cube_snapshot_id and table.java.snapshot(found.cube_snapshot_id) is None:
            # Whether the newest snapshot still has all of its rows cannot be told any more.
            self.notes.append(
                f"The snapshot of {table.name} that its coverage names has expired; it is built "
                "from all files."
            )
            return None
        return found

    def append(self, rows: DataFrame) -> str:
        """Append sorted rows and return what names the commit."""
        batch = uuid4().hex
        with clear_errors(self._definition.cube_table), self._fail.step("cube_append"):
            rows.write.format("iceberg").mode("append").option(
                f"snapshot-property.{_BATCH_KEY}", batch
            ).save(self.sql)
        return batch

    def publish(self, change: Change, *, batch: str = "") -> Coverage:
        """Publish the coverage with a change; `batch` names the append that it speaks of.

        The change is applied again whenever another builder was there first.

        Raises:
            StaleState: `cube.busy`, or `cube.rows_gone`: another program took the rows away.
        """
        for _ in range(_TRIES):
            table = self.open()
            before = self.read(table)
            wanted = change(before)
            wanted = self._placed(table, before, wanted, batch)
            if wanted == before:
                return wanted
            if self._swap(table, wanted):
                return wanted
        raise StaleState(
            "cube.busy",
            f"{self._definition.cube_table}: other programs publish this cube without a pause; "
            "the next run goes on.",
        )

    def publish_exact(self, change: Change) -> Coverage:
        """Publish that the newest snapshot holds just the units, if it does."""
        table = self.open()
        before = self.read(table)
        if before is None or table.snapshot is None:
            return self.publish(change)
        here = table.snapshot_id
        rows = self._spark.read.format("iceberg").option("snapshot-id", str(here)).load(self.sql)
        found = {int(row[0]) for row in rows.select(UNIT).distinct().collect()}
        wanted = replace(change(before), cube_snapshot_id=here)
        named = {one.number for one in wanted.units if one.rows}
        if found == named:
            self._swap(table, replace(wanted, exact=True))
        return self.read(self.open()) or wanted

    def name_in_fact(self) -> None:
        """Add the cube to the property of the fact table that names its cubes."""
        mine = self._definition.cube_table
        for _ in range(_TRIES):
            table = self._fact.again()
            named = [one for one in table.properties.get(CUBES_PROPERTY, "").split(",") if one]
            if mine in named or swap(table, {CUBES_PROPERTY: ",".join([*named, mine])}):
                return

    def _swap(self, table: IcebergTable, wanted: Coverage) -> bool:
        files = self._files(table)
        files.make_folders(".")
        name = f"{uuid4()}.json.gz"
        files.write(name, [coverages.serialise(wanted)])
        location = f"{table.location}/_lakewarden/coverage/{name}"
        with self._fail.step("cube_property"):
            if swap(table, {COVERAGE_PROPERTY: location}):
                return True
        files.delete(name)
        return False

    def _placed(
        self, table: IcebergTable, before: Coverage | None, wanted: Coverage, batch: str
    ) -> Coverage:
        """Return the coverage at the snapshot to read, and whether it holds just its units."""
        snapshot = table.snapshot
        if snapshot is None:
            raise StaleState("cube.rows_gone", f"{table.name} is empty; the next run builds it.")
        known = before.cube_snapshot_id if before is not None else 0
        if not batch:
            return replace(wanted, cube_snapshot_id=known, exact=wanted.exact)
        others = 0
        at: Any = snapshot
        while at is not None:
            summary = dict(at.summary())
            if summary.get(_BATCH_KEY) == batch:
                parent = at.parentId()
                is_next = (0 if parent is None else int(parent)) == known
                is_exact = is_next and not others and (before is None or before.exact)
                here = int(snapshot.snapshotId())
                return replace(wanted, cube_snapshot_id=here, exact=is_exact and wanted.exact)
            if str(at.operation()) != "append":
                break
            others += 1
            parent = at.parentId()
            at = table.java.snapshot(parent) if parent is not None else None
        raise StaleState(
            "cube.rows_gone",
            f"{table.name}: another program changed the cube's table while it was built; "
            "the next run builds these files again.",
        )

    def _files(self, table: IcebergTable) -> HadoopFiles:
        return HadoopFiles(table, f"{table.location}/_lakewarden/coverage")

    def _is_same(self, text: str) -> bool:
        try:
            found = parse(text)
        except PortalError as error:
            if error.code == "cube.newer":
                raise
            return False
        return found == self._definition

    def _create(self, how: str) -> None:
        definition = self._definition
        columns = [
            (UNIT, "bigint", "the set of data files that the row is of"),
            (STAR, "int", "bits of the dimensions that are aggregated away"),
            (HAS, "int", "bits of the dimensions with a star child on the path"),
            *((one.name, one.type, one.expression) for one in definition.dimensions),
            (ROWS, "bigint", "count(*)"),
            *(
                (one.name, one.type, f"{one.function} of {one.measure.expression}")
                for one in definition.states()
            ),
        ]
        listed = ", ".join(
            f"{quoted(name)} {kind} COMMENT {_literal(said)}" for name, kind, said in columns
        )
        settings = {**_SETTINGS, DEFINITION_PROPERTY: serialise(definition), COVERAGE_PROPERTY: ""}
        said = ", ".join(f"{_literal(key)} = {_literal(value)}" for key, value in settings.items())
        comment = _literal(f"Cube {definition.name} of {definition.table}, kept by Lakewarden")
        with clear_errors(definition.cube_table):
            self._spark.sql(
                f"{how} {self.sql} ({listed}) USING iceberg COMMENT {comment} "
                f"TBLPROPERTIES ({said})"
            )


def swap(table: IcebergTable, values: Mapping[str, str]) -> bool:
    """Set properties if the table's metadata is still what was opened; False if it is not."""
    operations = table.java.operations()
    base = operations.current()
    properties = table.jvm.java.util.HashMap(base.properties())
    for key, value in values.items():
        properties.put(key, value)
    try:
        operations.commit(base, base.replaceProperties(properties))
    except JAVA_ERRORS as error:
        if "CommitFailedException" in str(error):
            return False
        raise
    return True


def _literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
