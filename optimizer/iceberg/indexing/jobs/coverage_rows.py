"""Says, by column and partition, how many data files have the indexes that are asked for."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from optimizer.core.jobs.result_parts import ResultPart
from optimizer.iceberg.indexing.domain.wanted import coverage_part
from optimizer.iceberg.indexing.jobs.columns import IndexedColumn
from optimizer.iceberg.indexing.jobs.coverage import LiveFile, covered_by, place_of
from optimizer.indexes.domain.manifest import Manifest
from portal.spark.job import JobContext

MOST_PARTITIONS = 1_000
OLDER = "(older partitions)"
"""Under this name stand all partitions beyond the newest so many."""
_TYPES: dict[str, pa.DataType] = {
    "field_id": pa.int32(),
    "column": pa.string(),
    "wanted": pa.string(),
    "kinds": pa.string(),
    "partition": pa.string(),
    "place": pa.int32(),
    "n_files": pa.int64(),
    "n_covered": pa.int64(),
    "n_refused": pa.int64(),
    "n_rows": pa.int64(),
    "n_bytes": pa.int64(),
    "n_measured": pa.int64(),
    "false_positives": pa.float64(),
    "refused": pa.string(),
}
_SCHEMA = pa.schema(_TYPES)


@dataclass
class _Count:
    n_files: int = 0
    n_covered: int = 0
    n_refused: int = 0
    n_rows: int = 0
    n_bytes: int = 0
    n_measured: int = 0
    passed: int = 0
    refused: str = ""

    def figures(self) -> dict[str, Any]:
        """Return the row's numbers; false positives are the mean of the files that know theirs."""
        found = vars(self) | {"false_positives": None}
        passed = found.pop("passed")
        if self.n_measured:
            found["false_positives"] = passed / self.n_measured / 1e6
        return found


def write_coverage(
    job: JobContext,
    task: int,
    *,
    files: Sequence[LiveFile],
    columns: Sequence[IndexedColumn],
    manifest: Manifest,
) -> None:
    """Write the rows of one table into the spool; `files` have the newest partitions first."""
    part = ResultPart(job.spool, coverage_part(task), _SCHEMA)
    for column in columns:
        part.extend(_rows(files, column, manifest))
    part.flush()


def _rows(
    files: Iterable[LiveFile], column: IndexedColumn, manifest: Manifest
) -> Iterator[dict[str, Any]]:
    counts: dict[str, _Count] = {}
    kinds: dict[str, set[str]] = {}
    for file in files:
        known = file.partition in counts or len(counts) < MOST_PARTITIONS
        partition = file.partition if known else OLDER
        count = counts.setdefault(partition, _Count())
        count.n_files += 1
        covered = covered_by(file.data_file, manifest)
        place = place_of(column, covered) if covered else None
        if place is not None:
            (_, kind), blob = place
            kinds.setdefault(partition, set()).add(kind)
            count.n_covered += 1
            count.n_rows += file.data_file.records
            count.n_bytes += blob.length
            if blob.passed is not None:
                count.n_measured += 1
                count.passed += blob.passed
        elif covered is not None and (why := covered.refused.get((column.field_id, column.kind))):
            count.n_refused += 1
            count.refused = count.refused or why
    for place_in_line, (partition, count) in enumerate(counts.items()):
        yield {
            "field_id": column.field_id,
            "column": column.name,
            "wanted": column.kind,
            "kinds": ", ".join(sorted(kinds.get(partition, ()))),
            "partition": partition,
            "place": place_in_line,
            **count.figures(),
        }
