"""Reads a job's Parquet results from its spool, a chunk at a time, without Spark.

The portal reads them in workers through its own connectors; the web process never does.
"""

from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from portal.connectors.filesystem import open_file_system
from portal.connectors.lake_config import LakeConfig

CHUNK = 2_000


def result_rows(
    config: LakeConfig, results_uri: str, part: str, *, chunk: int = CHUNK
) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of one result (`tables`, `ranges`, ...) in lists of at most `chunk`.

    A result without files has no rows: Spark writes none for an empty lake.
    """
    for file in _files(config, results_uri, part):
        for batch in file.iter_batches(batch_size=chunk):
            yield batch.to_pylist()


def result_tables(
    config: LakeConfig, results_uri: str, part: str, *, columns: Sequence[str] | None = None
) -> Iterator[pa.Table]:
    """Yield one Arrow table a file, with only `columns`; filter it before asking for the next."""
    for file in _files(config, results_uri, part):
        yield file.read(columns=list(columns) if columns else None)


def _files(config: LakeConfig, results_uri: str, part: str) -> Iterator[pq.ParquetFile]:
    root = config.path(results_uri).child(part)
    files = open_file_system(root, config=config)
    if files.status(root) is None:
        return
    for status in files.walk(root):
        if not status.is_dir and status.path.name.endswith(".parquet"):
            yield pq.ParquetFile(BytesIO(files.read(status.path)))
