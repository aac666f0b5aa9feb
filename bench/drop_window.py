"""Measures how long data is out of sight, from a batch's first rename to its metadata drop.

A reader that comes in between sees a table with half its files. The limit is 5 s for a batch of 100
items. The product's own drop job drops whole tables of 100 partitions each; every batch's figure is
read from its done file. `python -m bench.drop_window --help`; figures in bench/README.md.
"""

import argparse
import os
import platform
import statistics
import sys
import tempfile
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyspark

from lifecycle.backup.engine.journal.reading import batches
from lifecycle.backup.engine.protocol import BATCH_ITEMS, WINDOW_SECONDS
from portal.lake.names import TableName
from portal.lake.paths import LakePath
from stack.stack import Stack
from tests.support.act_jobs import drop_params, finished, start
from tests.support.act_lake import ActLake

WRITERS = 16


class BenchLake(ActLake):
    """A lake whose files are made by many hands, after their partitions were registered."""

    n_files = 1

    def make_files(self, directory: LakePath, *, n: int) -> None:
        """Remember where files are to be; `fill` makes them."""
        self.fs.make_directories(directory, mode=0o755)
        self.__dict__.setdefault("to_fill", []).append(directory)

    def fill(self) -> None:
        """Make the files of every partition."""
        paths = [
            directory.child(f"part-{n:05d}")
            for directory in self.__dict__.pop("to_fill", [])
            for n in range(self.n_files)
        ]
        with ThreadPoolExecutor(WRITERS) as pool:
            list(pool.map(lambda path: self.fs.write_new(path, b"x" * 1024), paths))

    def table(self, number: int) -> TableName:
        """Make a table with as many partitions as a batch may have items."""
        values = [(f"2026-{n:05d}",) for n in range(BATCH_ITEMS)]
        return self.make_table(
            f"t{number}", keys=("dt",), values=values, external=True, file_format="parquet"
        )


def measure(lake: BenchLake, names: list[TableName], work: Path) -> tuple[list[float], float]:
    """Drop the tables by one real application; returns each batch's window, and all seconds."""
    run = str(uuid.uuid4())
    params = drop_params(lake, names[0], run, *names[1:])
    log = work / "drop.log"
    started = time.monotonic()
    result = finished(*start(lake.config, "lifecycle.drop.jobs", params, run=run, log=log), log)
    seconds = time.monotonic() - started
    if result["counts"] != {"DROPPED": len(names) * BATCH_ITEMS}:
        raise SystemExit(f"not everything was dropped: {result}")
    lake.seal(run)
    done = [batch.done for batch in batches(lake.fs, lake.day.sealed(run, 1))]
    return [one.seconds for one in done if one is not None and one.seconds is not None], seconds


def main(argv: list[str]) -> int:
    """Measure and print; 1 when a batch took longer than the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="HDFS, MariaDB, standalone Spark")
    parser.add_argument("--tables", type=int, default=5, help="batches of 100 items to drop")
    parser.add_argument("--files", type=int, default=1, help="files in each partition")
    asked = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="drop-window-") as folder:
        work = Path(folder)
        form = Stack.full if asked.full else Stack.embedded
        with form(work / "stack") as stack:
            lake = BenchLake(stack.config("main"), "bench")
            lake.n_files = asked.files
            names = [lake.table(number) for number in range(asked.tables)]
            lake.fill()
            windows, seconds = measure(lake, names, work)
            lake.metastore.close()
    gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    print(f"{platform.platform()}, {os.cpu_count()} cores, {gigabytes:.0f} GB of memory")
    print(f"Python {platform.python_version()}, PySpark {pyspark.__version__}")
    print(f"load {os.getloadavg()[0]:.1f}, {'full' if asked.full else 'embedded'} stack")
    print(f"{len(windows)} batches of {BATCH_ITEMS} items, {asked.files} files each")
    print("seconds from first rename to metadata drop:", *(f"{one:.2f}" for one in windows))
    print(f"median {statistics.median(windows):.2f}, longest {max(windows):.2f}", end=", ")
    print(f"limit {WINDOW_SECONDS:.0f}; the whole application {seconds:.1f}")
    return int(max(windows) > WINDOW_SECONDS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
