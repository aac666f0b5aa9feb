"""What does a writer win whose compactions are executed by a job of ours instead of by itself?

Two merge-on-read tables take the same small upserts, a block of commits each in turn: writer (a)
compacts inline every `--every` commits, writer (b) only schedules as often, and the product's own
program (`optimizer.jobs.hudi.services`, an application of its own beside the writer) executes what
is scheduled. Both end with the rows that were written last, by Hudi's own readers.
Goal: seconds inside the commits of (b) at most 0.6 times those of (a).
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
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha512
from pathlib import Path
from typing import Any

from bench.processor import processor_seconds
from optimizer.jobs.hudi import services
from optimizer.jobs.hudi.look import Asked, look_at
from portal.lake.ids import LakeId
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
    """Execute what is scheduled for the table of (b) until there is a file `stop`."""
    spark = local_session()
    table = Written("b", HudiTable(spark, folder / "b"), {})
    config = replace(local_lake(folder, LakeId("bench")), time_zone="UTC")
    task = order(table.table, "COMPACTION", properties=APART, patience_seconds=3600)
    told: list[dict[str, Any]] = []
    while not (folder / "stop").exists():
        if table.is_pending:
            told += services.run(spark, job_for(spark, config, {"tasks": [task]}))["tasks"]
        time.sleep(0.2)
    done = [one for result in told for one in result["done"]]
    failed = [result["reason"] for result in told if result["code"]]
    seconds = sum(result["seconds"] for result in told)
    found = {"plans": len(done), "seconds": seconds, "failed": failed}
    (folder / "served.json").write_text(json.dumps(found), encoding="utf-8")
    spark.stop()


def written(folder: Path, *, commits: int, every: int, rows: int, size: int) -> dict[str, Any]:
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
    server = subprocess.Popen([sys.executable, "-m", "bench.hudi", "--serve", str(folder)])
    block = 2 * every
    try:
        for start in range(0, commits, block):
            batch = range(start + 1, min(commits, start + block) + 1)
            changes = [[changed(i, k) for i in dice.sample(range(rows), size)] for k in batch]
            for one in both:
                begun = time.monotonic()
                for k, change in zip(batch, changes, strict=True):
                    one.write(change)
                    if k % 2:
                        one.look()
                if one.name == "b":
                    wait_for(one)
                one.wall += time.monotonic() - begun
            for change in changes:
                wanted |= {row[0]: row for row in change}
            so_far = json.dumps([figures(one) for one in both])
            sys.stderr.write(f"{batch[-1]} of {commits} commits: {so_far}\n")
    finally:
        (folder / "stop").touch()
        server.wait(_SECONDS_TO_END)
    for one in both:
        if one.table.rows() != sorted(wanted.values()):
            raise SystemExit(f"The rows of {one.name} are not those that were written.")
    told: dict[str, Any] = {one.name: figures(one) for one in both}
    ratio = sum(both[1].seconds) / sum(both[0].seconds)
    told["services"] = json.loads((folder / "served.json").read_text(encoding="utf-8"))
    return {**told, "ratio": round(ratio, 3), "processor_seconds": round(processor_seconds())}


def changed(i: int, k: int) -> Row:
    """Give a row as the commit `k` writes it."""
    return (i, _DAYS[i % 2], sha512(f"{i} {k}".encode()).hexdigest(), k)


def wait_for(one: Written) -> None:
    """Wait until everything that is scheduled has been executed."""
    until = time.monotonic() + _SECONDS_TO_END
    while one.is_pending:
        if time.monotonic() > until:
            raise SystemExit("The services did not execute what was scheduled.")
        time.sleep(0.05)


def figures(one: Written) -> dict[str, Any]:
    """Give what is reported of a table."""
    n_behind, seconds_behind = ([pair[n] for pair in one.behind] for n in (0, 1))
    third = -(-len(n_behind) // 3)
    thirds = [n_behind[k : k + third] for k in range(0, len(n_behind), third)]
    return {
        "inside_commits": round(sum(one.seconds), 1),
        "commit_median": round(statistics.median(one.seconds), 2),
        "commit_worst": round(max(one.seconds), 2),
        "wall": round(one.wall, 1),
        "behind_commits": [round(statistics.mean(part), 1) for part in thirds],
        "behind_worst": max(n_behind),
        "behind_seconds_median": round(statistics.median(seconds_behind), 1),
        "behind_seconds_worst": round(max(seconds_behind), 1),
    }


def main() -> int:
    """Run the bench, or (`--serve`) be the services of one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commits", type=int, default=200)
    parser.add_argument("--every", type=int, default=5, help="delta commits to a compaction")
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--size", type=int, default=200, help="rows of a commit")
    parser.add_argument("--work", type=Path, default=Path("var/bench"))
    parser.add_argument("--serve", type=Path)
    asked = parser.parse_args()
    if asked.serve:
        served(asked.serve)
        return 0
    asked.work.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="hudi-", dir=asked.work.resolve()) as folder:
        found = written(
            Path(folder),
            commits=asked.commits,
            every=asked.every,
            rows=asked.rows,
            size=asked.size,
        )
    found["cores"] = os.cpu_count()
    sys.stdout.write(json.dumps(found, indent=2) + "\n")
    return 0 if found["ratio"] <= MOST_TIMES and not found["services"]["failed"] else 1


if __name__ == "__main__":
    sys.exit(main())
