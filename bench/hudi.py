"""Measures what a writer gains when a separate job of the product executes its compactions.

Two merge-on-read tables take the same small upserts, a block of commits each in turn: writer (a)
compacts inline every `--every` commits, writer (b) only schedules as often, and the product's own
program (`optimizer.hudi.maintenance.jobs.run_services`, an application of its own beside the
writer) executes what is scheduled. It begins after the first `--alone` commits, so that one sees
how far a reader of base files falls behind where nobody executes, and that it comes back. Both
tables end with the rows that were written last, by Hudi's own readers.
Goal: seconds inside the commits of (b) at most 0.6 times those of (a), from the first served one.
`python -m bench.hudi --commits 200`; figures in bench/README.md.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha512
from pathlib import Path
from typing import Any

from bench.processor import processor_seconds
from optimizer.hudi.inspect.jobs.snapshot import Asked, look_at
from optimizer.hudi.maintenance.jobs import run_services
from portal.lake.ids import LakeId
from portal.spark.launch import NICENESS
from tests.support.hudi_lake import HudiTable, Row
from tests.support.hudi_services import APART, order
from tests.support.lakes import local_lake
from tests.support.scan_spark import job_for, local_session

MOST_TIMES = 0.6
_DAYS = ("2026-05-01", "2026-05-02")
_PLAIN = {
    "hoodie.index.type": "BUCKET",
    "hoodie.bucket.index.num.buckets": "2",
    "hoodie.write.markers.type": "DIRECT",
}
_SECONDS_TO_END = 600.0


@dataclass
class Written:
    """One table and what its writer took."""

    name: str
    table: HudiTable
    settings: dict[str, str]
    seconds: list[float] = field(default_factory=list)
    wall: float = 0.0
    behind: list[tuple[int, float]] = field(default_factory=list)

    def write(self, rows: list[Row]) -> None:
        """Commit some rows, and note how long that took."""
        started = time.monotonic()
        self.table.upsert(rows, {**_PLAIN, **self.settings})
        self.seconds.append(time.monotonic() - started)

    def look(self) -> None:
        """Note how many commits a reader of base files alone does not see, and for how long."""
        started, now = time.monotonic(), datetime.now(UTC)
        missing = look_at(self.table.opened, Asked(read_logs=False), now=now).uncompacted
        oldest = min((one.completed_at for one in missing), default=now)
        self.behind.append((len(missing), (now - oldest).total_seconds()))
        self.wall -= time.monotonic() - started

    @property
    def is_pending(self) -> bool:
        """Whether a plan waits or is being executed."""
        done = {path.name.partition("_")[0] for path in self.table.timeline.glob("*_*.commit")}
        plans = self.table.timeline.glob("*.compaction.requested")
        return any(path.name.partition(".")[0] not in done for path in plans)


def served(folder: Path) -> None:
    """Execute what is scheduled for the table of (b) until there is a file `stop`.

    As the portal launches table services on one machine: after the writer, if both want a core.
    """
    os.setpriority(os.PRIO_PROCESS, 0, NICENESS)
    spark = local_session()
    table = Written("b", HudiTable(spark, folder / "b"), {})
    config = replace(local_lake(folder, LakeId("bench")), time_zone="UTC")
    task = order(table.table, "COMPACTION", properties=APART, patience_seconds=3600)
    told: list[dict[str, Any]] = []
    while not (folder / "stop").exists():
        if table.is_pending:
            told += run_services.run(spark, job_for(spark, config, {"tasks": [task]}))["tasks"]
        time.sleep(0.2)
    done = [one for result in told for one in result["done"]]
    failed = [result["reason"] for result in told if result["code"]]
    seconds = sum(result["seconds"] for result in told)
    found = {"plans": len(done), "seconds": seconds, "failed": failed}
    (folder / "served.json").write_text(json.dumps(found), encoding="utf-8")
    spark.stop()


def written(
    folder: Path, *, commits: int, alone: int, every: int, rows: int, size: int
) -> dict[str, Any]:
    """Write both tables in blocks in turn, and give what it took."""
    spark, dice = local_session(), random.Random(2026)
    often = {"hoodie.compact.inline.max.delta.commits": str(every)}
    inline = {**often, "hoodie.compact.inline": "true"}
    apart = {**often, "hoodie.compact.inline": "false", "hoodie.compact.schedule.inline": "true"}
    both = [
        Written("a", HudiTable(spark, folder / "a"), inline),
        Written("b", HudiTable(spark, folder / "b"), apart),
    ]
    wanted = {i: changed(i, 0) for i in range(rows)}
    for one in both:
        one.write(list(wanted.values()))
        one.seconds.clear()
    server: subprocess.Popen[bytes] | None = None
    block = 2 * every
    try:
        for start in range(0, commits, block):
            if server is None and start >= alone:
                server = subprocess.Popen([sys.executable, "-m", "bench.hudi", "--serve", folder])
                wait_for(both[1])
            batch = range(start + 1, min(commits, start + block) + 1)
            changes = [dice.sample(range(rows), size) for _ in batch]
            for one in both:
                begun = time.monotonic()
                write_block(one, dict(zip(batch, changes, strict=True)))
                if one.name == "b" and server is not None:
                    wait_for(one)
                one.wall += time.monotonic() - begun
            for k, keys in zip(batch, changes, strict=True):
                wanted |= {i: changed(i, k) for i in keys}
            so_far = json.dumps([figures(one, alone=alone) for one in both])
            sys.stderr.write(f"{batch[-1]} of {commits} commits: {so_far}\n")
    finally:
        (folder / "stop").touch()
        if server is not None:
            server.wait(_SECONDS_TO_END)
    for one in both:
        if one.table.rows() != sorted(wanted.values()):
            raise SystemExit(f"The rows of {one.name} are not those that were written.")
    told: dict[str, Any] = {one.name: figures(one, alone=alone) for one in both}
    ratio = sum(both[1].seconds[alone:]) / sum(both[0].seconds[alone:])
    told["services"] = json.loads((folder / "served.json").read_text(encoding="utf-8"))
    return {**told, "ratio": round(ratio, 3), "processor_seconds": round(processor_seconds())}


def write_block(one: Written, changes: Mapping[int, list[int]]) -> None:
    """Commit some changes, each to the row numbers that it has, and look after every other one."""
    for k, keys in changes.items():
        one.write([changed(i, k) for i in keys])
        if k % 2:
            one.look()


def changed(i: int, k: int) -> Row:
    """Return a row as the commit `k` writes it."""
    return (i, _DAYS[i % 2], sha512(f"{i} {k}".encode()).hexdigest(), k)


def wait_for(one: Written) -> None:
    """Wait until everything that is scheduled has been executed."""
    until = time.monotonic() + _SECONDS_TO_END
    while one.is_pending:
        if time.monotonic() > until:
            raise SystemExit("The services did not execute what was scheduled.")
        time.sleep(0.05)


def figures(one: Written, *, alone: int) -> dict[str, Any]:
    """Return what is reported of a table: of its first commits apart from those that are served.

    `behind` is by a look after every second commit: how many commits base files lack.
    """
    first, rest = one.seconds[:alone], one.seconds[alone:]
    behind = [n for n, _ in one.behind]
    waited = [seconds for _, seconds in one.behind[alone // 2 :]]
    return {
        "inside_first_commits": round(sum(first), 1),
        "inside_commits": round(sum(rest), 1),
        "commit_median": round(statistics.median(rest or first), 2),
        "commit_worst": round(max(rest or first), 2),
        "wall": round(one.wall, 1),
        "behind_at_first": behind[: alone // 2],
        "behind": behind[alone // 2 :],
        "behind_seconds_median": round(statistics.median(waited), 1) if waited else None,
        "behind_seconds_worst": round(max(waited), 1) if waited else None,
    }


def main() -> int:
    """Run the bench, or (`--serve`) be the services of one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commits", type=int, default=200)
    parser.add_argument("--alone", type=int, default=40, help="commits before services begin")
    parser.add_argument("--every", type=int, default=5, help="delta commits to a compaction")
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--size", type=int, default=200, help="rows of a commit")
    parser.add_argument("--work", type=Path, default=Path("var/bench"))
    parser.add_argument("--serve", type=Path)
    asked = parser.parse_args()
    if asked.serve:
        served(asked.serve)
        return 0
    if not 0 <= asked.alone < asked.commits or asked.alone % (2 * asked.every):
        parser.error(f"--alone is a multiple of {2 * asked.every}, and less than --commits")
    asked.work.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="hudi-", dir=asked.work.resolve()) as folder:
        found = written(
            Path(folder),
            commits=asked.commits,
            alone=asked.alone,
            every=asked.every,
            rows=asked.rows,
            size=asked.size,
        )
    found["cores"] = os.cpu_count()
    sys.stdout.write(json.dumps(found, indent=2) + "\n")
    return 0 if found["ratio"] <= MOST_TIMES and not found["services"]["failed"] else 1


if __name__ == "__main__":
    sys.exit(main())
