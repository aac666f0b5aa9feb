"""Writes statistics of distinct values per column, for engines that order joins.

Iceberg's own action reads the columns and registers one Puffin file with main's snapshot. Where
only rewrites came after the snapshot that has statistics, they still hold: then the same file is
registered with the newest one, and nothing is read.
"""

from typing import Any

from optimizer.core.jobs.stops import check_stop
from optimizer.iceberg.access.jobs.commits import told
from optimizer.iceberg.access.jobs.errors import clear_errors
from optimizer.iceberg.access.jobs.executor import TaskExecutor
from optimizer.iceberg.access.jobs.history import ancestors
from optimizer.iceberg.access.jobs.iceberg import IcebergTable, java_strings
from optimizer.iceberg.maintenance.domain.statistics_columns import Columns, columns_worth_it
from portal.lake.counts import count_words
from portal.lake.errors import RuleViolation

_THETA = "apache-datasketches-theta-v1"
_FIELD = "org.apache.iceberg.types.Types$NestedField"
_NAMED = 5


class StatisticsWork(TaskExecutor):
    """Statistics of a table's columns."""

    def count(self, table: IcebergTable) -> dict[str, int]:
        """Return the numbers that are told before and after."""
        with clear_errors(table.name):
            own = _files(table).get(table.snapshot_id)
            known = [] if own is None else _columns_of(table, own)
            return table.totals() | {"n_statistics_columns": len(known)}

    def work(self, table: IcebergTable) -> None:
        """Register what still holds, or read the columns."""
        result = self.result
        if table.snapshot is None:
            result.notes.append("The table has no rows yet, so there is nothing to count.")
            return
        with clear_errors(table.name):
            own = _files(table).get(table.snapshot_id)
            if own is not None and _is_of_others(own):
                result.notes.append(
                    "Its statistics file holds more than numbers of different values, which would "
                    "be lost; it is left as another program wrote it."
                )
                return
            holds = _still_holds(table)
            known = [] if holds is None else _columns_of(table, holds)
            columns = self._columns(table, known)
            if holds is not None and set(columns.names) <= set(known):
                self._keep(table, holds, known, is_own=own is not None)
            elif columns.names:
                self._compute(table, columns)
            else:
                result.notes.append("None of its columns is of a type whose values are counted.")
            result.notes += columns.notes

    def _columns(self, table: IcebergTable, known: list[str]) -> Columns:
        schema = _schema(table)
        types = _types(table, schema)
        by_partition = [
            str(schema.findColumnName(field.sourceId())) for field in table.java.spec().fields()
        ]
        return columns_worth_it(
            types, first=[*self.order.layout.columns, *by_partition], known=known
        )

    def _keep(self, table: IcebergTable, file: Any, known: list[str], *, is_own: bool) -> None:
        number = f"Statistics of {count_words(len(known), 'column')}"
        if is_own:
            self.result.notes.append(f"{number} are there, and nothing was written since.")
            return
        new = table.jvm.org.apache.iceberg.GenericStatisticsFile(
            table.snapshot_id,
            file.path(),
            file.fileSizeInBytes(),
            file.fileFooterSizeInBytes(),
            file.blobMetadata(),
        )
        with self.fail.step("commit"):
            table.java.updateStatistics().setStatistics(new).commit()
        self.result.notes.append(f"{number} still hold: only rewrites came after them.")
        self.result.commits.append({**told(table.snapshot), "columns": known})

    def _compute(self, table: IcebergTable, columns: Columns) -> None:
        check_stop(self.job, self.order.task)
        action = table.actions().computeTableStats(table.java).snapshot(table.snapshot_id)
        with self.fail.step("commit"):
            file = action.columns(java_strings(table.spark, *columns.names)).execute()
        written = file.statisticsFile()
        names = list(columns.names)
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        self.result.notes.append(
            f"Statistics of {count_words(len(names), 'column')}: {', '.join(names[:_NAMED])}{more}."
        )
        self.result.commits.append(
            {
                **told(table.snapshot, bytes_added=int(written.fileSizeInBytes())),
                "columns": names,
                "statistics_file": str(written.path()),
            }
        )


def _files(table: IcebergTable) -> dict[int, Any]:
    """Return the statistics file of each snapshot that has one."""
    return {int(one.snapshotId()): one for one in table.java.statisticsFiles()}


def _still_holds(table: IcebergTable) -> Any | None:
    """Return the newest statistics after which no row was written or deleted."""
    files = _files(table)
    for snapshot in ancestors(table):
        if found := files.get(int(snapshot.snapshotId())):
            return found
        if str(snapshot.operation()) != "replace":
            return None
    return None


def _is_of_others(file: Any) -> bool:
    return any(str(blob.type()) != _THETA for blob in file.blobMetadata())


def _columns_of(table: IcebergTable, file: Any) -> list[str]:
    """Return the names of the columns that a file has numbers of."""
    schema = _schema(table)
    ids = [blob.fields().get(0) for blob in file.blobMetadata() if str(blob.type()) == _THETA]
    names = [schema.findColumnName(one) for one in ids]
    return [str(name) for name in names if name is not None]


def _schema(table: IcebergTable) -> Any:
    """Return the schema of main's snapshot: that by which its columns are read."""
    key = table.snapshot.schemaId() if table.snapshot is not None else None
    found = table.java.schema() if key is None else table.java.schemas().get(key)
    if found is None:
        raise RuleViolation(
            "iceberg.no_schema",
            f"{table.name}: its snapshot names the schema {key}, which its metadata does not have.",
            table=table.name,
        )
    return found


def _types(table: IcebergTable, schema: Any) -> dict[str, str]:
    columns, fields = table.columns, schema.columns()
    names = columns.read(fields, columns.step(_FIELD, "name"))
    return dict(zip(names, columns.read(fields, columns.step(_FIELD, "type")), strict=True))
