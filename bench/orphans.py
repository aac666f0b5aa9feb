"""Measures time and memory of the orphan file search where there are very many files.

    python -m bench.orphans [--files 200000] [--names 2000000] [--folders 200]

Empty files are made in a local directory; the names of the metadata are made up by Spark, a tenth
of the files among them. Listing and join are the job's own. Figures are in bench/README.md.
"""

import argparse
import resource
import shutil
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark.sql import functions as F

from optimizer.iceberg.maintenance.jobs.orphan_listing import compare, list_place
from optimizer.removals.jobs.list import MOST_ITEMS
from portal.lake.ids import LakeId
from tests.support.lakes import local_lake
from tests.support.scan_spark import job_for, local_session


def main() -> None:
    """Make the files, search, and print seconds and the peaks of memory."""
    parser = argparse.ArgumentParser()
    for name, default in (("files", 200_000), ("names", 2_000_000), ("folders", 200)):
        parser.add_argument(f"--{name}", type=int, default=default)
    asked = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="lw-orphans-"))
    try:
        search(root, asked.files, asked.names, asked.folders)
    finally:
        shutil.rmtree(root)


def search(root: Path, n_files: int, n_names: int, n_folders: int) -> None:
    """Search a place of many files for those that none of many names means."""
    place = root / "table" / "data"
    for folder in range(n_folders):
        (place / f"day={folder}").mkdir(parents=True)
    for n in range(n_files):
        (place / f"day={n % n_folders}" / f"{n:09d}.parquet").touch()
    spark, config = local_session(), local_lake(root, LakeId("main"))
    job = job_for(spark, config, {}, now=datetime.now(UTC))
    at = F.col("id")
    # Every tenth file is known; the rest of the names mean files of other days.
    day = (at * 10 % n_folders).cast("string")
    path = F.format_string(f"{place}/day=%s/%09d.parquet", day, at * 10)
    named = spark.range(n_names).select(path.alias("path"))
    named = named.withColumn("name", F.substring_index("path", "/", -1))
    before = _peak_mib()
    began = time.monotonic()
    listed = list_place(
        job,
        config.path(f"file://{root}/table"),
        before_ms=int(time.time() * 1000) + 1000,
        task=1,
    )
    listed_at = time.monotonic()
    found = compare(job, listed, named, table="bench", most=MOST_ITEMS)
    ended = time.monotonic()
    jvm: Any = spark.sparkContext._jvm
    heap = jvm.java.lang.Runtime.getRuntime()
    used = (heap.totalMemory() - heap.freeMemory()) / 1024**2
    print(f"{n_files:,} files, {n_names:,} names: {found.n_found:,} orphans, left {found.left}")
    print(f"listing {listed_at - began:.1f} s, comparing {ended - listed_at:.1f} s")
    print(f"driver's Python: {before:.0f} MiB before, {_peak_mib():.0f} MiB at its peak")
    print(
        f"JVM (driver and executor threads): {used:.0f} MiB used, "
        f"{heap.maxMemory() / 1024**2:.0f} allowed"
    )


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
