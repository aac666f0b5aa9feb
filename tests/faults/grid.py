"""The failpoint grid: every step of drop and restore, killed before and after, on four shapes.

`python -m tests.faults.grid LAKES_JSON RESULTS [--slice TEXT] [--limit N]` goes on where an earlier
run stopped and prints cases run of cases possible.
"""

import argparse
import dataclasses
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from portal.act.fence import write_lease
from portal.act.journal import batch_numbers, batches, is_unsettled
from portal.act.records import IN_BACKUP, Outcome
from portal.connectors.lake_config import LakeConfig, load_lakes
from portal.lake.names import TableName
from portal.lake.paths import LakePath
from tests.support.act_lake import ActLake, Snapshot

DROP_STEPS = (
    "control",
    "facts",
    "intent",
    "recheck",
    "rename",
    "listing",
    "drop",
    "confirm",
    "done",
)
RESTORE_STEPS = ("control", "facts", "intent", "rename", "listing", "register", "confirm", "done")
SHAPES = tuple(itertools.product(("table", "parts"), ("managed", "external")))
_PARTS = [("a",), ("b c",), ("50%",)]
_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Case:
    """One cell of the grid."""

    kind: str
    point: str
    shape: str
    ownership: str
    approved: bool

    @property
    def name(self) -> str:
        """The case's name, by which a resumed run knows it."""
        approval = "approved" if self.approved else "lapsed"
        return f"{self.kind}/{self.point}/{self.shape}/{self.ownership}/{approval}"


class Broken(AssertionError):
    """An invariant did not hold; the message begins with its number."""


def all_cases() -> list[Case]:
    """Give every cell: drop with and without a standing approval, restore."""
    cases = []
    for shape, ownership in SHAPES:
        for step in DROP_STEPS:
            for moment in _moments(step, "drop", shape):
                for approved in (True, False):
                    cases.append(Case("drop", f"{step}:{moment}", shape, ownership, approved))
        for step in RESTORE_STEPS:
            for moment in _moments(step, "register", shape):
                cases.append(Case("restore", f"{step}:{moment}", shape, ownership, True))
    return cases


def _moments(step: str, call: str, shape: str) -> Iterator[str]:
    yield "before:kill"
    yield "after:kill"
    if step == call:
        yield "send:kill"
    if step == "rename" and shape == "parts":
        yield "after:kill:2"


class Scene:
    """A fresh lake with one table; starts acting processes on it and looks at what they left."""

    def __init__(self, config: LakeConfig, *, shape: str, ownership: str) -> None:
        self.lake = ActLake(config, uuid.uuid4().hex[:10])
        external = ownership == "external"
        if shape == "table":
            self.name: TableName = self.lake.make_table("t", external=external)
        else:
            self.name = self.lake.make_table("t", keys=("dt",), values=_PARTS, external=external)
        self.other = self.lake.make_table("bystander")
        self.before = self.lake.snapshot(self.name)
        self.bystander = self.lake.snapshot(self.other)
        self.run = str(uuid.uuid4())
        self.restore_run = str(uuid.uuid4())

    def start_drop(self, failpoint: str, *, fence: bool = True) -> subprocess.Popen[str]:
        """Start a drop process behind a fresh fence."""
        order = self.lake.order(self.run)
        items = [dataclasses.asdict(item) for item in self.lake.items(self.name)]
        return self._start(
            {"kind": "drop", "run": self.run, "items": items}, order.fence, failpoint, fence=fence
        )

    def start_restore(self, failpoint: str) -> subprocess.Popen[str]:
        """Start a restore process on the claimed backup."""
        claimed = self.lake.claim(self.run, self.restore_run)
        spec = {
            "kind": "restore",
            "run": self.restore_run,
            "claimed": str(claimed),
            "batches": batch_numbers(self.lake.fs, claimed),
        }
        return self._start(spec, claimed.parent, failpoint, fence=True)

    def _start(
        self, spec: dict[str, Any], fence_path: LakePath, failpoint: str, *, fence: bool
    ) -> subprocess.Popen[str]:
        spec |= {
            "config": self.lake.config.as_dict(),
            "name": self.lake.name,
            "fence_path": str(fence_path),
            "fence": fence,
        }
        with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as file:
            json.dump(spec, file)
        return subprocess.Popen(
            [sys.executable, "-m", "tests.faults.driver", file.name],
            cwd=_ROOT,
            env={**os.environ, "LW_FAILPOINTS_ENABLED": "1", "LW_FAILPOINT": failpoint},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def end_lease(self) -> None:
        """Let the drop's lease run out, as when its supervisor died."""
        fence = self.lake.day.open(self.run, 1)
        write_lease(self.lake.fs, fence, until=datetime(2020, 1, 1, tzinfo=UTC))

    @property
    def sealed(self) -> LakePath:
        """Where the drop's items lie after its end."""
        return self.lake.day.sealed(self.run, 1)

    def settle(self, *, approved: bool) -> None:
        """Seal and settle, twice: the second time must change nothing (I5)."""
        self.lake.seal(self.run, approved=approved)
        state = self.state()
        self.lake.seal(self.run, approved=approved)
        if self.state() != state:
            raise Broken("I5: settling again changed something")

    def state(self) -> tuple[Any, ...]:
        """Give all that can be seen: what is registered, live and in the backup."""
        table = self.lake.metastore.table_or_none(self.name)
        names = self.lake.metastore.partition_names(self.name) if table is not None else None
        live = {key: self.lake.files(self._live(key)) for key in self.before.files}
        backup = self.lake.files(self.sealed)
        return (table is not None, names, live, backup)

    def check(self) -> None:
        """Check the invariants I1 to I6 after a settled run."""
        directory = self.sealed
        settled = self.lake.fs.status(directory) is None or not is_unsettled(
            self.lake.fs, directory
        )
        if not settled:
            raise Broken("I4: an intent has no done; the run does not end by itself")
        found = list(batches(self.lake.fs, directory))
        homes = {
            item.partition: (batch.directory.child(item.item), batch.done)
            for batch in found
            for item in batch.intent.items
        }
        for key, files in self.before.files.items():
            self._check_item(key, files, homes.get(key))
        outcomes = [(d.item) for b in found if b.done for d in b.done.items]
        if len(outcomes) != len(set(outcomes)):
            raise Broken("I6: an item has more than one outcome")
        if self.lake.snapshot(self.other) != self.bystander:
            raise Broken("I3: something that nobody approved was touched")

    def _check_item(self, key: str, files: Any, home: Any) -> None:
        is_live = self.lake.files(self._live(key)) == files
        is_kept = home is not None and self.lake.files(home[0]) == files
        if is_live == is_kept:
            raise Broken(f"I1: the data of {key!r} is live={is_live} and in backup={is_kept}")
        registered = self._is_registered(key)
        if is_live and not registered:
            raise Broken(f"I2: {key!r} is live but not registered")
        if is_kept and registered:
            raise Broken(f"I2: {key!r} is registered but its data is in the backup")

    def _is_registered(self, key: str) -> bool:
        table = self.lake.metastore.table_or_none(self.name)
        if table is None or not key:
            return table is not None
        return key in self.lake.metastore.partition_names(self.name)

    def _live(self, key: str) -> LakePath:
        home = self.lake.db_path.child("t")
        return home.child(*key.split("/")) if key else home

    def check_restored(self) -> None:
        """Restore what is in the backup and check that all is as before (I7), then again (I5)."""
        if any(
            done.outcome in IN_BACKUP
            for batch in batches(self.lake.fs, self.sealed)
            for done in (batch.done.items if batch.done else ())
        ):
            self.lake.restore(self.run)
        self.check_equal()
        if batch_numbers(self.lake.fs, self.sealed):
            again = self.lake.restore(self.run)
            if set(again.counts) - {Outcome.SKIPPED}:
                raise Broken(f"I5: a second restore did {again.counts}")

    def check_equal(self) -> None:
        """Check that everything live is as before (I7)."""
        table = self.lake.metastore.table_or_none(self.name)
        if table is None:
            raise Broken("I2: the table is not registered")
        after: Snapshot = self.lake.snapshot(self.name)
        for part in ("table", "items", "files"):
            if getattr(after, part) != getattr(self.before, part):
                raise Broken(f"I7: {part} differs after the restore")

    def close(self) -> None:
        """Close the connection; the files stay for who wants to look."""
        self.lake.metastore.close()


def run_case(config: LakeConfig, case: Case) -> None:
    """Run one case to its end; Broken names the invariant that did not hold."""
    scene = Scene(config, shape=case.shape, ownership=case.ownership)
    try:
        if case.kind == "drop":
            expect_killed(scene.start_drop(case.point))
            scene.settle(approved=case.approved)
            scene.check()
            scene.check_restored()
        else:
            done = scene.start_drop("")
            if done.wait(timeout=120) != 0:
                raise AssertionError(done.communicate())
            scene.settle(approved=True)
            expect_killed(scene.start_restore(case.point))
            scene.lake.release(scene.run, scene.restore_run)
            scene.lake.release(scene.run, scene.restore_run)
            scene.check_restored()
    finally:
        scene.close()


def expect_killed(process: subprocess.Popen[str]) -> None:
    """Wait for a process that must die at its failpoint; any other end is an error of the grid."""
    out, err = process.communicate(timeout=180)
    if process.returncode != -signal.SIGKILL:
        raise AssertionError(f"not killed but {process.returncode}: {out} {err[-2000:]}")


def main(argv: Sequence[str]) -> int:
    """Run a slice of the grid, appending to a results file; 1 when anything failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lakes", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--slice", default="", help="only cases whose name contains this")
    parser.add_argument("--limit", type=int, default=10_000)
    given = parser.parse_args(argv)
    config = load_lakes(given.lakes)["main"]
    known = _known(given.results)
    cases = all_cases()
    wanted = [case for case in cases if given.slice in case.name and case.name not in known]
    failed = 0
    with given.results.open("a", encoding="utf-8") as file:
        for case in wanted[: given.limit]:
            started, problem = time.monotonic(), ""
            try:
                run_case(config, case)
            except Exception as error:
                problem, failed = f"{type(error).__name__}: {error}", failed + 1
            row = {"case": case.name, "problem": problem, "s": round(time.monotonic() - started, 1)}
            file.write(json.dumps(row) + "\n")
            file.flush()
            sys.stdout.write(f"{row}\n")
    n_run = len(_known(given.results))
    sys.stdout.write(f"{n_run} of {len(cases)} cases run, {failed} failed now\n")
    return bool(failed)


def _known(results: Path) -> set[str]:
    if not results.exists():
        return set()
    rows = (json.loads(line) for line in results.read_text(encoding="utf-8").splitlines())
    return {row["case"] for row in rows if not row["problem"]}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
