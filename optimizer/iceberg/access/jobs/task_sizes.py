"""Says how large the tasks of a staged read should be.

Iceberg cuts a plain scan of a small table so that all cores read; staged tasks it packs to 128 MiB
whatever there is to read, which left all but one core idle.
"""

from pyspark.sql import SparkSession

OPEN_BYTES = 1 << 20
"""What opening a file costs besides, in bytes that are read meanwhile."""
LEAST_BYTES, MOST_BYTES = 4 << 20, 128 << 20
_TASKS_A_CORE = 3


def task_bytes(spark: SparkSession, *, n_bytes: int, n_files: int) -> int:
    """Return the `split-size` with which so many files keep every core busy."""
    n_tasks = _TASKS_A_CORE * spark.sparkContext.defaultParallelism
    whole = n_bytes + OPEN_BYTES * n_files
    return min(MOST_BYTES, max(LEAST_BYTES, whole // n_tasks))
