"""Measures the memory in which indexes of one very large data file are built.

One file of 50 million rows, of which a column holds ten million distinct strings and another as
many numbers as rows. Per kind the product's own job in a driver of a small heap; given are the
greatest resident memory of the JVM and of Python during the build (`VmHWM`, cleared before it),
its seconds, and what came of it. `python -m bench.index_memory --help`; figures in bench/README.md.
"""

import argparse
import os
import sys
from contextlib import suppress
from pathlib import Path

from pyspark.sql import SparkSession

from bench.index_build import NAME, build_of
from bench.layout import DB, opened_lake
from bench.scan_memory import peak

KINDS = (
    "word:bloom",
    "word:bloomrf",
    "word:bitmap",
    "word:token_bloom",
    "word:ngram_bloom",
    "word:token_bitmap",
    "n:bloom",
    "n:bloomrf",
    "n:bitmap",
)


def make(spark: SparkSession, n_rows: int, n_words: int) -> None:
    """Write the table: one data file."""
    spark.sql(
        f"CREATE TABLE lake.{DB}.{NAME} (n bigint, word string) USING iceberg TBLPROPERTIES ("
        "'write.distribution-mode' = 'none', 'write.target-file-size-bytes' = '100000000000')"
    )
    rows = spark.range(0, n_rows, 1, 1).selectExpr(
        "xxhash64(id) AS n", f"concat('word-', pmod(id * 7919, {n_words})) AS word"
    )
    rows.writeTo(f"lake.{DB}.{NAME}").append()
    (n_files,) = spark.sql(f"SELECT count(*) FROM lake.{DB}.{NAME}.files").first() or (0,)
    if n_files != 1:
        sys.exit(f"{n_files} data files were written, not one")


def processes() -> dict[str, int]:
    """Return the process ids of Python and of its JVM."""
    found = {"python": os.getpid()}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, IndexError):
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            if int(parent) == os.getpid() and (folder / "comm").read_text().strip() == "java":
                command = (folder / "cmdline").read_text()
                if "spark.app.name" in command or "SparkSubmit" in command:
                    found["jvm"] = int(folder.name)
    return found


def clear(found: dict[str, int]) -> None:
    """Let the greatest resident memory begin anew (proc(5), clear_refs)."""
    for pid in found.values():
        Path(f"/proc/{pid}/clear_refs").write_text("5")


def peaks(found: dict[str, int]) -> dict[str, int]:
    """Return the greatest resident memory since then, in MiB."""
    known = {name: peak(pid) for name, pid in found.items()}
    return {name: one[1] // 1024 for name, one in known.items() if one is not None}


def main() -> None:
    """Make the file, build each kind, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--words", type=int, default=10_000_000)
    parser.add_argument("--memory", default="1g", help="the heap of driver and executor in one")
    parser.add_argument("--kinds", nargs="*", default=list(KINDS))
    parser.add_argument("--work", type=Path, default=Path("var/bench"))
    given = parser.parse_args()
    with opened_lake(given.work, memory=given.memory) as (spark, config):
        make(spark, given.rows, given.words)
        found = processes()
        for kind in given.kinds:
            clear(found)
            result = build_of(spark, config, [kind])
            print(
                f"{kind:20} {result['seconds']:7.1f} s  {result['n_bytes'] / 1e6:8.1f} MB  "
                f"{peaks(found)} MiB  {result['outcome']} {result['reason']}",
                flush=True,
            )
            if result["outcome"] not in ("DONE", "NOTHING"):
                sys.exit(1)


if __name__ == "__main__":
    main()
