"""Measures what indexes cost a plan of very many data files, and that past a limit files are kept.

The table's data files are entries alone, made by Iceberg's own API: nothing reads them. Each has a
Bloom filter of ten ids in Puffin files of the product's writer, under the product's manifest. A
look-up of one id is planned cold and warm, with limits of time and of the cache; a file that holds
the id must be among those that are kept. `python -m bench.index_planning --help`.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from pyspark.sql import SparkSession

from optimizer.indexes.domain.envelope import Kind
from optimizer.indexes.domain.manifest import (
    BlobPlace,
    Covered,
    DataFile,
    Manifest,
    manifest_name,
    write,
)
from optimizer.indexes.domain.puffin import PuffinWriter
from optimizer.indexes.domain.values import ColumnType, ValueClass
from stack.places import JARS, jars_of
from tests.support.plain_indexes import BlobOf, blob

NAME = "bench.many"
IDS = 10
A_PUFFIN = 2_000
# Settings of the catalog, by what is asked of them.
LIMITS: dict[str, dict[str, str]] = {
    "usual": {},
    "no cache": {"cache-bytes": "0"},
    "1 MiB of cache": {"cache-bytes": str(1 << 20)},
    "500 ms a plan": {"plan-ms": "500"},
    "50 ms a plan": {"plan-ms": "50", "cache-bytes": "0"},
    "no time": {"plan-ms": "0"},
    "no indexes": {"enabled": "false"},
}


def session(memory: str) -> SparkSession:
    """Start a local Spark that has Iceberg and the indexed catalog."""
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    jars = [jar for jar in jars_of("spark") if jar.name.startswith("iceberg-spark-runtime")]
    path = ":".join(map(str, [*jars, JARS / "jvm" / "indexed-catalog.jar"]))
    builder: Any = SparkSession.builder
    found: SparkSession = (
        builder.master("local[2]")
        .appName("bench-index-planning")
        .config("spark.driver.memory", memory)
        .config("spark.driver.extraClassPath", path)
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    return found


def catalog(spark: SparkSession, name: str, root: Path, settings: dict[str, str]) -> None:
    """Set an indexed catalog up over the folder."""
    key = f"spark.sql.catalog.{name}"
    spark.conf.set(key, "lakewarden.indexes.IndexedSparkCatalog")
    spark.conf.set(f"{key}.type", "hadoop")
    spark.conf.set(f"{key}.warehouse", f"file:{root}")
    for one, value in settings.items():
        spark.conf.set(f"{key}.lakewarden.indexes.{one}", value)


def make(spark: SparkSession, root: Path, n_files: int) -> UUID:
    """Append the entries of files that are not there; gives the table's UUID."""
    catalog(spark, "maker", root, {})
    spark.sql(f"CREATE TABLE maker.{NAME} (id BIGINT, word STRING) USING iceberg")
    jvm: Any = spark._jvm
    table = jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(
        spark._jsparkSession, f"maker.{NAME}"
    )
    spec = table.spec()
    for first in range(0, n_files, 10_000):
        append = table.newFastAppend()
        for at in range(first, min(first + 10_000, n_files)):
            file = jvm.org.apache.iceberg.DataFiles.builder(spec).withPath(location(root, at))
            file = file.withFormat("parquet").withFileSizeInBytes(1 << 20).withRecordCount(IDS)
            append.appendFile(file.build())
        append.commit()
    return UUID(table.uuid().toString())


def location(root: Path, at: int) -> str:
    """Return where the data file of that number would lie."""
    return f"file:{root}/{NAME.replace('.', '/')}/data/part-{at:07}.parquet"


def index(root: Path, uuid: UUID, n_files: int) -> tuple[int, int]:
    """Write blobs and manifest; gives their bytes."""
    folder = root / NAME.replace(".", "/") / "_lakewarden" / "indexes"
    for part in ("files", "manifests"):
        (folder / part).mkdir(parents=True)
    covered: dict[str, Covered] = {}
    n_bytes = 0
    for first in range(0, n_files, A_PUFFIN):
        name, files = f"{uuid4()}.puffin", range(first, min(first + A_PUFFIN, n_files))
        writer = PuffinWriter(snapshot_id=1, sequence_number=1)
        parts = [writer.start()]
        for one, place, data in _blobs(root, uuid, writer, files):
            parts.append(data)
            covered[one.location] = Covered(one, {(1, Kind.BLOOM): BlobPlace(name, *place)})
        parts.append(writer.finish())
        n_bytes += (folder / "files" / name).write_bytes(b"".join(parts))
    packed = write(Manifest(uuid, 1, covered))
    (folder / "manifests" / manifest_name(1, uuid4())).write_bytes(packed)
    return n_bytes, len(packed)


def _blobs(
    root: Path, uuid: UUID, writer: PuffinWriter, files: range
) -> Iterator[tuple[DataFile, tuple[int, int], bytes]]:
    long = ColumnType(ValueClass.INTEGER)
    for at in files:
        file = DataFile(location(root, at), 1 << 20, IDS, None, ())
        data = blob("bloom", BlobOf(uuid, file.location, 1, long), ids(at))
        offset = writer.blob(Kind.BLOOM.blob_type, 1, len(data), {})
        yield file, (offset, len(data)), data


def ids(at: int) -> list[Any]:
    """Return the ids of a data file: far apart, so that least and greatest values say nothing."""
    return [(at + 1) * 7919 + i * 1_000_000_007 for i in range(IDS)]


def planned(spark: SparkSession, name: str, value: int) -> tuple[float, dict[str, Any]]:
    """Plan a look-up; gives its seconds, and what became of the files."""
    jvm: Any = spark._jvm
    started = time.perf_counter()
    query = spark.table(f"{name}.{NAME}").where(f"id = {value}")
    scans = jvm.lakewarden.indexes.Planning.of(query._jdf)
    seconds = time.perf_counter() - started
    return seconds, dict(scans.get(0)) if scans.size() else {}


def heap(spark: SparkSession) -> int:
    """Return the bytes of the driver's heap that are in use after a collection."""
    jvm: Any = spark._jvm
    jvm.java.lang.System.gc()
    runtime = jvm.java.lang.Runtime.getRuntime()
    return int(runtime.totalMemory() - runtime.freeMemory())


def measure(spark: SparkSession, root: Path, n_files: int, rounds: int) -> list[dict[str, Any]]:
    """Plan with each of the limits, cold and then warm."""
    found = []
    for number, (asked, settings) in enumerate(LIMITS.items()):
        name = f"limits{number}"
        catalog(spark, name, root, settings)
        spark.sql(f"DESCRIBE {name}.{NAME}").collect()
        before = heap(spark)
        times = []
        for at in range(rounds + 1):
            target = (at * 7919) % n_files
            seconds, said = planned(spark, name, ids(target)[3])
            if said and location(root, target) not in said["kept"]:
                sys.exit(f"{asked}: the file that holds the id was dropped")
            times.append(seconds)
        kept = len(said["kept"]) if said else n_files
        row = {
            "limits": asked,
            "kept": kept,
            "cold_ms": round(times[0] * 1000),
            "warm_ms": round(statistics.median(times[1:]) * 1000),
            "heap_mib": round((heap(spark) - before) / (1 << 20)),
            "unused": dict(said.get("unused", {})),
        }
        print(json.dumps(row), flush=True)
        found.append(row)
    return found


def main() -> None:
    """Make the table and its indexes, plan, print, and fail where a limit dropped a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--memory", default="2g")
    given = parser.parse_args()
    spark = session(given.memory)
    with tempfile.TemporaryDirectory(prefix="index-planning-") as folder:
        root = Path(folder)
        started = time.monotonic()
        uuid = make(spark, root, given.files)
        blobs, manifest = index(root, uuid, given.files)
        print(
            f"{given.files} files made in {time.monotonic() - started:.0f} s, indexes of {blobs} "
            f"bytes, a manifest of {manifest}, load {os.getloadavg()[0]:.1f}",
            flush=True,
        )
        rows = {row["limits"]: row for row in measure(spark, root, given.files, given.rounds)}
    spark.stop()
    wrong = [name for name in ("no time", "no indexes") if rows[name]["kept"] != given.files]
    if wrong:
        sys.exit(f"files were dropped with: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
