"""The program `estimate`: says what an index of a column would cost and save, from a sample."""

from collections.abc import Collection
from dataclasses import asdict
from typing import Any

from pyspark.sql import SparkSession

from optimizer.iceberg.access.jobs.iceberg import open_table, use_iceberg
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


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Sample the columns of the request; nothing is built."""
    use_iceberg(spark, job.config)
    use_arrow(spark)
    params = job.params
    table = open_table(spark, params["db"], params["table"], uuid=params["uuid"])
    columns, refused = find_columns(table, [WantedIndex(name) for name in params["columns"]])
    files = [one for one in live_files(table) if one.data_file.records]
    some = spread(files)
    found: dict[int, Any] = {}
    if columns and some:
        job.progress("sample", 0, len(some), table.name)
        found = sample_columns(table, some, columns)
    n_bytes = sum(one.data_file.size for one in files)
    workload = Workload(queries_a_day=float(params["queries_a_day"]))
    rows = []
    for column in columns:
        samples = found.get(column.field_id, [])
        profile = profile_of(
            column.type, samples, files=len(files), file_bytes=n_bytes / max(len(files), 1)
        )
        uses = {Use(one) for one in params["uses"].get(column.name.lower(), ())}
        rows.append(estimated(column, profile, workload, uses=uses))
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
