"""Writes the new files of one group, without the table knowing of it yet.

The scan tasks of exactly these files are staged under an id, read (deletes applied), and written
as files that belong to no snapshot. Reading and writing use the table as it was planned, put into
Iceberg's own cache under the id, with the stage's folder as place of new files.
"""

from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import uuid4

from pyspark.sql import DataFrame

from optimizer.iceberg.access.jobs.errors import clear_errors
from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.iceberg.access.jobs.task_sizes import OPEN_BYTES, task_bytes
from optimizer.iceberg.access.jobs.write_ids import write_ids_of
from optimizer.iceberg.inspect.domain.stats import BIG_ABOVE
from optimizer.iceberg.rewrite.jobs.bin_packing import Group
from optimizer.iceberg.rewrite.jobs.planning import Plan, PlannedPartition, TaskColumns
from optimizer.iceberg.rewrite.jobs.staging import Stage, StagingArea
from portal.lake.errors import DataSafetyError, RuleViolation

_ICEBERG = "org.apache.iceberg."
_DELETE_FILE = _ICEBERG + "DeleteFile"
# Lumps of this share of an output file cannot be packed evenly without a shuffle.
_LUMP = 0.25
# Iceberg's writer counts what it holds of each column's last page, not compressed yet, towards the
# size of a file. Without room for that, files of a small target would end long before their rows.
_UNWRITTEN_BYTES = 16 << 20


class Arrange(Protocol):
    """Puts the rows of a group in order, spread over so many files."""

    def __call__(self, rows: DataFrame, n_files: int, n_rows: int, /) -> DataFrame:
        """Return the same rows, in order; there are `n_rows` at most."""
        ...


@dataclass(frozen=True)
class Wanted:
    """How a group shall be written."""

    target_bytes: int
    spec_id: int
    arrange: Arrange | None = None


@dataclass(frozen=True)
class Staged:
    """New files of one group that wait for a commit, and what they replace."""

    partition: str
    group: Group
    stage: Stage
    old: Any = field(repr=False)
    new: Any = field(repr=False)
    dead_deletes: Any = field(repr=False)
    n_added: int
    bytes_added: int
    rows: int
    write_ids: tuple[str, ...]
    keeps_spec: bool

    def wins(self, target_bytes: int) -> bool:
        """Whether the table is better for it: fewer files, fewer deletes, or none too big."""
        too_big = any(file.n_bytes > BIG_ABOVE * target_bytes for file in self.group.files)
        return self.n_added < len(self.group.files) or self.group.n_deletes > 0 or too_big


def stage_group(
    plan: Plan,
    partition: PlannedPartition,
    group: Group,
    *,
    wanted: Wanted,
    area: StagingArea,
) -> Staged:
    """Write the rows of a group into new files; on failure they are deleted again.

    Raises:
        DataSafetyError: `iceberg.rows_differ`, more or fewer rows came out than there are.
        PortalError: what Spark or the file system said, sorted.
    """
    set_id = uuid4().hex
    stage = area.open(set_id)
    try:
        with clear_errors(plan.table.name):
            _make_active(plan.table)
            return _write(plan.table, set_id, (partition, group), wanted=wanted, stage=stage)
    except BaseException:
        area.empty(stage)
        raise


def _make_active(table: IcebergTable) -> None:
    """Tell this thread which session is meant: a thread of a pool knows none, and no settings."""
    session = table.spark._jsparkSession
    table.jvm.org.apache.spark.sql.SparkSession.setActiveSession(session)


def _write(
    table: IcebergTable,
    set_id: str,
    what: tuple[PlannedPartition, Group],
    *,
    wanted: Wanted,
    stage: Stage,
) -> Staged:
    partition, group = what
    spark = table.jvm.org.apache.iceberg.spark
    tasks = table.jvm.java.util.ArrayList(len(group.files))
    for file in group.files:
        tasks.add(partition.tasks.get(file.n))
    cache = table.columns.static(_ICEBERG + "spark.SparkTableCache", "get")
    manager, coordinator = spark.ScanTaskSetManager.get(), spark.FileRewriteCoordinator.get()
    cache.add(set_id, _table_writing_to(table, stage.folder))
    manager.stageTasks(table.java, set_id, tasks)
    try:
        _read_and_write(table, set_id, group, wanted=wanted)
        new = coordinator.fetchNewFiles(table.java, set_id)
        staged = _described(table, tasks, new, what=what, stage=stage, wanted=wanted)
    finally:
        manager.removeTasks(table.java, set_id)
        coordinator.clearRewrite(table.java, set_id)
        cache.remove(set_id)
    _check_rows(table, staged)
    return staged


def _read_and_write(table: IcebergTable, set_id: str, group: Group, *, wanted: Wanted) -> None:
    read = table.spark.read.format("iceberg").option("scan-task-set-id", set_id)
    mean = group.n_bytes // group.n_out
    largest = max(file.n_bytes for file in group.files)
    most_bytes = int(BIG_ABOVE * wanted.target_bytes) + _UNWRITTEN_BYTES
    size = task_bytes(table.spark, n_bytes=group.n_bytes, n_files=len(group.files))
    spread = read.option("file-open-cost", str(OPEN_BYTES)).option("split-size", str(size))
    if wanted.arrange is not None:
        rows = wanted.arrange(spread.load(set_id), group.n_out, group.n_rows)
    elif group.n_out > 1 and largest > _LUMP * mean:
        rows = spread.load(set_id).repartition(group.n_out)
    else:
        # Whole small files are packed side by side, in their order and without a shuffle.
        packed = read.option("file-open-cost", "0").option("split-size", str(mean + largest + 1))
        rows = packed.load(set_id).coalesce(group.n_out)
    (
        rows.write.format("iceberg")
        .option("rewritten-file-scan-task-set-id", set_id)
        .option("use-table-distribution-and-ordering", "false")
        .option("target-file-size-bytes", str(most_bytes))
        .option("output-spec-id", str(wanted.spec_id))
        # Rows may go into several partitions: of another spec, or of two that are called alike
        # (`dt=null` is both NULL and 'null').
        .option("fanout-enabled", "true")
        .mode("append")
        .save(set_id)
    )


def _table_writing_to(table: IcebergTable, folder: str) -> Any:
    """Return the table as it was planned, but with its new files below `folder`."""
    iceberg = table.jvm.org.apache.iceberg
    operations = table.java.operations()
    place = table.jvm.java.util.HashMap()
    place.put("write.data.path", folder)
    metadata = iceberg.TableMetadata.buildFrom(operations.current()).setProperties(place).build()
    return iceberg.BaseTable(operations.temp(metadata), table.java.name())


def _described(
    table: IcebergTable,
    tasks: Any,
    new: Any,
    *,
    what: tuple[PlannedPartition, Group],
    wanted: Wanted,
    stage: Stage,
) -> Staged:
    columns = table.columns
    steps = TaskColumns(columns)
    collectors = table.jvm.java.util.stream.Collectors
    files = table.jvm.java.util.ArrayList(new)
    locations = columns.read(files, steps.location)
    _check_place(table, locations, stage)
    is_scoped = columns.test(_ICEBERG + "util.ContentFileUtil", "isFileScoped", _DELETE_FILE)
    return Staged(
        partition=what[0].partition,
        group=what[1],
        stage=stage,
        old=columns.mapped(tasks, steps.file).collect(collectors.toSet()),
        new=new,
        dead_deletes=columns.flat(tasks, steps.deletes)
        .stream()
        .filter(is_scoped)
        .collect(collectors.toSet()),
        n_added=len(locations),
        bytes_added=sum(columns.numbers(files, steps.length)),
        rows=sum(columns.numbers(files, steps.rows)),
        write_ids=tuple(sorted(set().union(*map(write_ids_of, locations)))),
        keeps_spec=what[0].spec_id == wanted.spec_id,
    )


def _check_place(table: IcebergTable, locations: list[str], stage: Stage) -> None:
    strays = [path for path in locations if not path.startswith(stage.folder + "/")]
    for path in strays:
        table.java.io().deleteFile(path)
    if strays:
        raise RuleViolation(
            "iceberg.location_provider",
            f"{table.name} has a location provider of its own, which does not heed "
            "write.data.path; after a crash nobody could tell which files are ours, so its files "
            "are not rewritten. Take write.location-provider.impl away to have it optimized.",
            table=table.name,
        )


def _check_rows(table: IcebergTable, staged: Staged) -> None:
    """A rewrite may leave out deleted rows, nothing else, and can never add any."""
    most = sum(file.n_rows for file in staged.group.files)
    n_deleted = sum(file.n_deleted_rows for file in staged.group.files)
    least = 0 if any(file.has_equality for file in staged.group.files) else most - n_deleted
    if not least <= staged.rows <= most:
        raise DataSafetyError(
            "iceberg.rows_differ",
            f"{table.name}: {staged.rows} rows came out of a rewrite of {most} rows with "
            f"{n_deleted} deleted ones. Nothing was committed. Read the table with another engine "
            "and compare; its metadata may be wrong.",
            table=table.name,
        )
