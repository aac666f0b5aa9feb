"""The program `estimate`: says what an index of a column would cost and save, from a sample."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pyspark.sql import SparkSession

from optimizer.iceberg.access.jobs.iceberg import IcebergTable, open_table, use_iceberg
from optimizer.iceberg.indexing.domain.wanted import WantedIndex
from optimizer.iceberg.indexing.jobs.columns import IndexedColumn, find_columns
from optimizer.iceberg.indexing.jobs.coverage import live_files
from optimizer.iceberg.indexing.jobs.sampling import sample_columns, spread
from optimizer.iceberg.rewrite.jobs.boundary_sample import use_arrow
from optimizer.indexes.domain.builders import unfit
from optimizer.indexes.domain.choice.costs import Workload, before_building
from optimizer.indexes.domain.choice.kinds import OF_PIECES, Use, choose_for
from optimizer.indexes.domain.choice.profile import ColumnProfile, profile_of
from optimizer.indexes.domain.envelope import Kind
from portal.spark.job import JobContext


@dataclass(frozen=True, slots=True)
class Asked:
    """How a column is asked for: how often, and in which ways if scans were recorded."""

    queries_a_day: float
    uses: frozenset[Use] = frozenset()


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Sample the columns of the request; nothing is built."""
    use_iceberg(spark, job.config)
    use_arrow(spark)
    params = job.params
    table = open_table(spark, params["db"], params["table"], uuid=params["uuid"])
    job.progress("sample", 0, 1, table.name)
    queries = float(params["queries_a_day"])
    return estimates(
        table,
        {
            name: Asked(queries, frozenset(map(Use, params["uses"].get(name.lower(), ()))))
            for name in params["columns"]
        },
    )


def estimates(table: IcebergTable, asked: Mapping[str, Asked]) -> dict[str, Any]:
    """Return what an index of each column would cost and save, by a sample of some files."""
    columns, refused = find_columns(table, map(WantedIndex, asked))
    files = [one for one in live_files(table) if one.data_file.records]
    some = spread(files)
    found = sample_columns(table, some, columns) if columns and some else {}
    n_bytes = sum(one.data_file.size for one in files)
    rows = []
    for column in columns:
        profile = profile_of(
            column.type,
            found.get(column.field_id, []),
            files=len(files),
            file_bytes=n_bytes / max(len(files), 1),
        )
        how = asked[column.name]
        rows.append(estimated(column, profile, Workload(how.queries_a_day), uses=how.uses))
    return {
        "n_files": len(files),
        "n_sampled": len(some),
        "columns": rows,
        "refused": [
            {"column": error.fields.get("column", ""), "reason": error.message} for error in refused
        ],
    }


def estimated(
    column: IndexedColumn,
    profile: ColumnProfile | None,
    workload: Workload,
    *,
    uses: Collection[Use],
) -> dict[str, Any]:
    """Return what is known of a column, the kind that fits, and the figures of every kind.

    `uses` is how recorded scans ask for it, if they do.
    """
    said: dict[str, Any] = {
        "column": column.name,
        "type": column.iceberg_type,
        "uses": sorted(uses),
        "kinds": [],
    }
    if profile is None:
        return {**said, "kind": "", "reason": "the sampled rows hold only nulls"}
    choice = choose_for(profile, uses)
    for kind in Kind:
        if kind in OF_PIECES or unfit(profile.type, kind) is not None:
            continue
        judged = before_building(kind, profile, workload)
        said["kinds"].append({"kind": kind.value, **asdict(judged)})
    return {
        **said,
        "kind": choice.kind.value if choice.kind else "",
        "reason": choice.reason,
        "rows_a_file": profile.rows_a_file,
        "distinct_a_file": profile.distinct_a_file,
        "files_without": profile.opened_without,
        "files_holding": profile.holders,
    }
