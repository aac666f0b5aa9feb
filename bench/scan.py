"""Measures a scan of a million partitions against plain reading of the same bytes.

Baseline: the mariadb client reading the same rows, then `find -printf` over the same tree. Both are
run in turn, three times by default; every class is compared with a judgement of all rows made here
from the baseline's own output. `python -m bench.scan --help`; figures in bench/README.md.
"""

import argparse
import dataclasses
import json
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from bench.scan_data import DAY, NOW, TTL, BenchLake
from bench.scan_memory import watch
from portal.connectors.lake_config import LakeConfig, MetastoreDb
from portal.connectors.metastore_db import DIALECTS, PARTITIONS
from portal.lake.ids import LakeId
from portal.spark.launch import submit
from portal.spark.spool import Spool
from stack.ledger import Ledger
from stack.places import JARS, jars_of
from stack.servers import mariadb
from stack.servers.mariadb import MariaDb
from stack.servers.metastore import Backing, Metastore
from stack.servers.spark import SparkMaster, SparkWorker

NOW_AT = datetime.fromtimestamp(NOW, tz=UTC)
_ROWS = DIALECTS["mysql"].sql(PARTITIONS)


@dataclass(frozen=True, slots=True)
class Bench:
    """The running servers of one bench."""

    work: Path
    database: MariaDb
    config: LakeConfig

    def fill(self, lake: BenchLake) -> None:
        """Make rows and directories, and count what is really there."""
        started = time.monotonic()
        with self.database.connect() as link:
            lake.fill_metastore(link)
        say(f"{lake.n} partition rows in {time.monotonic() - started:.0f} s")
        started = time.monotonic()
        wanted = lake.make_directories()
        argv = ["find", str(lake.warehouse), "-mindepth", "2", "-type", "d", "-printf", "%i\n"]
        inodes = set(subprocess.run(argv, check=True, capture_output=True).stdout.split())
        if len(inodes) < wanted:
            raise SystemExit(f"{len(inodes)} directories are there, {wanted} were wanted")
        say(f"{len(inodes)} distinct directories in {time.monotonic() - started:.0f} s")

    def baseline(self, lake: BenchLake) -> tuple[float, float]:
        """Read the rows with the mariadb client and the tree with find; seconds of each."""
        client = ["mariadb", "--no-defaults", f"--socket={self.database.socket}", "-uroot"]
        client += ["--batch", "--quick", "--skip-column-names", "metastore", "-e", _ROWS]
        walk = ["find", str(lake.warehouse), "-printf", "%T@\t%A@\t%y\t%s\t%p\n"]
        seconds = []
        for argv, name in ((client, "rows.tsv"), (walk, "files.tsv")):
            started = time.monotonic()
            with (self.work / name).open("wb") as out:
                subprocess.run(argv, check=True, stdout=out)
            seconds.append(time.monotonic() - started)
        return seconds[0], seconds[1]

    def scan(self, config: LakeConfig, label: str) -> tuple[dict[str, Any], Spool]:
        """Run one scan as the portal does; give seconds, phases and peak memory."""
        run = f"bench-{label}-{time.time_ns()}"
        spool = Spool.for_run(config, run, 1)
        spool.create()
        request = {"run": run, "epoch": 1, "lake": config.as_dict(), "now": NOW_AT.isoformat()}
        template = f"{self.work}/lake/user/{{owner}}"
        spool.write_request(request | {"params": {"template": template, "soon_days": 7}})
        started = time.monotonic()
        launched = submit(
            module="lifecycle.inventory.jobs.scan",
            tag=f"lw-{run}",
            spool=str(spool.root),
            config=config,
            log_file=self.work / "logs" / f"{run}.log",
            environment={"LW_METASTORE_DB_PASSWORD": config.metastore_db.password()},
        )
        usage = watch(launched)
        seconds = time.monotonic() - started
        manifest = spool.read_manifest()
        if manifest is None or manifest["outcome"] != "done":
            raise SystemExit(f"the scan failed: {manifest}; log in {self.work / 'logs'}")
        measured = {"seconds": round(seconds, 2), "phases": manifest["result"]["phases"]}
        return measured | dataclasses.asdict(usage), spool


def judge_plainly(work: Path) -> Iterator[tuple[int, str]]:
    """Yield (part_id, class) of every row, from the baseline's output and in plain words only."""
    own: dict[str, int] = {}
    newest: dict[str, tuple[int, int]] = {}
    with (work / "files.tsv").open(encoding="utf-8") as lines:
        for line in lines:
            changed, used, kind, _, path = line.rstrip("\n").split("\t")
            at = int(float(changed) * 1000)
            if kind == "d":
                own[path] = at
                continue
            parent = path.rsplit("/", 1)[0]
            was = newest.get(parent, (0, 0))
            newest[parent] = (max(was[0], at), max(was[1], int(float(used) * 1000)))
    now, ttl, soon, recent = NOW * 1000, TTL * DAY * 1000, 7 * DAY * 1000, 30 * DAY * 1000
    with (work / "rows.tsv").open(encoding="utf-8") as lines:
        for line in lines:
            part_id, _, _, _, location, ddl, _ = line.rstrip("\n").split("\t")
            path = location.removeprefix("file://")
            touched, read = newest.get(path, (0, 0))
            by_metastore = int(ddl) * 1000 + 1 + ttl
            due = max(int(ddl) * 1000, own.get(path, 0), touched) + 1 + ttl
            if now < by_metastore - soon:
                cls = "NOT_NOW"
            elif path not in own:
                cls = "MISSING_DIRECTORY"
            elif now < due - soon:
                cls = "NOT_NOW"
            elif now < due:
                cls = "SOON"
            elif read > max(own[path], touched) and now - read <= recent:
                cls = "STILL_READ"
            else:
                cls = "CLEAN_NOW"
            yield int(part_id), cls


def compare(work: Path, spool: Spool) -> Counter[str]:
    """Compare every row's class; stop at the first difference."""
    wanted = dict(judge_plainly(work))
    found: dict[int, str] = {}
    for path in Path(spool.results.path, "items").glob("*.parquet"):
        table = pq.read_table(path, columns=["part_id", "cls"], partitioning=None)
        rows: list[dict[str, Any]] = table.to_pylist()
        found.update((int(row["part_id"]), str(row["cls"])) for row in rows)
    if found != wanted:
        odd = [key for key in wanted | found if wanted.get(key) != found.get(key)]
        examples = [(key, wanted.get(key), found.get(key)) for key in odd[:5]]
        raise SystemExit(f"{len(odd)} of {len(wanted)} rows differ: {examples}")
    return Counter(found.values())


@contextmanager
def servers(work: Path) -> Iterator[Bench]:
    """MariaDB with the metastore's schema, and a metastore server for notification ids."""
    ledger = Ledger(work / "stack.json")
    database = MariaDb(work, ledger=ledger)
    backing = Backing(database.jdbc_url, mariadb.DRIVER, mariadb.USER, mariadb.PASSWORD)
    metastore = Metastore(work, ledger=ledger, backing=backing, warehouse=f"{work}/lake/warehouse")
    secret = work / "metastore.password"
    secret.touch(mode=0o600)
    secret.write_text(mariadb.PASSWORD, encoding="utf-8")
    try:
        for server in (database, metastore):
            server.start()
            server.wait_ready()
        yield Bench(work, database, _config(work, database, metastore, secret))
    finally:
        metastore.stop()
        database.stop()


def _config(work: Path, database: MariaDb, metastore: Metastore, secret: Path) -> LakeConfig:
    drivers = [jar for jar in jars_of("spark") if jar.name.startswith("mariadb-java-client")]
    return LakeConfig(
        lake=LakeId("bench"),
        thrift_host="127.0.0.1",
        thrift_port=metastore.port,
        metastore_db=MetastoreDb(
            kind="mysql",
            jdbc_url=database.jdbc_url,
            driver=mariadb.DRIVER,
            user=mariadb.USER,
            password_file=str(secret),
            host="127.0.0.1",
            port=database.port,
            database=mariadb.METASTORE,
        ),
        default_fs="file:///",
        spool=f"file://{work}/spool",
        time_zone="UTC",
        spark_master="local[2]",
        deployment_id="bench",
        spark_conf={
            "spark.driver.memory": "2g",
            "spark.local.dir": f"{work}/spark-local",
        },
        spark_jars=tuple(map(str, [*drivers, *sorted((JARS / "jvm").glob("*.jar"))])),
    )


def compare_speed(bench: Bench, lake: BenchLake, rounds: int) -> None:
    """Run baseline and scan in turn and print medians and raws."""
    bench.fill(lake)
    base: list[float] = []
    scans: list[float] = []
    for number in range(1, rounds + 1):
        rows, files = bench.baseline(lake)
        base.append(rows + files)
        say(f"round {number}: baseline {base[-1]:.1f} s (client {rows:.1f}, find {files:.1f})")
        measured, spool = bench.scan(bench.config, f"speed{number}")
        scans.append(measured["seconds"])
        say(f"round {number}: scan {json.dumps(measured)}")
        classes = dict(sorted(compare(bench.work, spool).items()))
        say(f"round {number}: all {sum(classes.values())} rows judged alike: {classes}")
    ratio = statistics.median(scans) / statistics.median(base)
    say(
        f"medians: scan {statistics.median(scans):.1f} s of {scans}, "
        f"baseline {statistics.median(base):.1f} s of {[round(b, 1) for b in base]}: {ratio:.2f} x"
    )


def compare_memory(bench: Bench, root: Path, sizes: tuple[int, int]) -> None:
    """Run on a standalone cluster with a small driver, at two sizes, and compare the peaks."""
    ledger = Ledger(bench.work / "stack.json")
    master = SparkMaster(bench.work, ledger=ledger)
    worker = SparkWorker(bench.work, ledger=ledger, master=master.url)
    conf = bench.config.spark_conf | {
        "spark.driver.memory": "512m",
        "spark.executor.memory": "512m",
        "spark.cores.max": "2",
        "spark.driver.host": "127.0.0.1",
    }
    config = dataclasses.replace(bench.config, spark_master=master.url, spark_conf=conf)
    peaks = []
    try:
        for server in (master, worker):
            server.start()
            server.wait_ready()
        for n in sizes:
            bench.fill(BenchLake(root, n))
            measured, _ = bench.scan(config, f"memory{n}")
            peaks.append(sum(measured["peak_mb"].values()))
            say(f"standalone, driver -Xmx512m, {n} partitions: {json.dumps(measured)}")
    finally:
        worker.stop()
        master.stop()
    say(f"peak memory of the driver's processes: {peaks} MB, ratio {peaks[1] / peaks[0]:.2f}")


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> None:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--work", type=Path, default=Path("var/bench"))
    parser.add_argument("--memory", action="store_true", help="compare peaks at 100,000 and --rows")
    options = parser.parse_args()
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    root = work / "lake"
    with servers(work) as bench:
        if options.memory:
            compare_memory(bench, root, (options.rows // 10, options.rows))
        else:
            compare_speed(bench, BenchLake(root, options.rows), options.rounds)


if __name__ == "__main__":
    main()
