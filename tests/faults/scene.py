"""A fresh lake with one table under test, processes that act on it, and what they may have left."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import tempfile
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lifecycle.backup.engine.journal.reading import batch_numbers, batches, is_unsettled
from lifecycle.backup.engine.journal.records import IN_BACKUP, Outcome
from lifecycle.backup.engine.restore.order import NewName
from portal.connectors.lake_config import LakeConfig
from portal.lake.names import TableName
from portal.lake.paths import LakePath
from portal.safety.fence import write_lease
from tests.support.act_extras import dress, extras_of
from tests.support.act_lake import ActLake, Snapshot
from tests.support.act_restores import backup_of, elsewhere, make_places, undo

_PARTS = [("a",), ("b c",), ("50%",)]
_ROOT = Path(__file__).resolve().parents[2]


class Broken(AssertionError):
    """An invariant did not hold; the message begins with its number."""


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
        dress(self.lake, self.name)
        self.before = self.lake.snapshot(self.name)
        self.belongs = extras_of(self.lake, self.name)
        self.bystander = self.lake.snapshot(self.other)
        self.run = str(uuid.uuid4())
        self.restore_run, self.undo_run = str(uuid.uuid4()), str(uuid.uuid4())
        self.elsewhere = elsewhere(self.lake, "t_back")

    def start_drop(self, failpoint: str, *, fence: bool = True) -> subprocess.Popen[str]:
        """Start a drop process behind a fresh fence."""
        order = self.lake.order(self.run)
        items = [dataclasses.asdict(item) for item in self.lake.items(self.name)]
        return self._start(
            {"kind": "drop", "run": self.run, "items": items}, order.fence, failpoint, fence=fence
        )

    def start_restore(self, failpoint: str, *, to: NewName | None = None) -> subprocess.Popen[str]:
        """Start a restore process on the claimed backup."""
        claimed = self.lake.claim(self.run, self.restore_run)
        spec = self._claimed("restore", self.restore_run, claimed)
        if to is not None:
            make_places(self.lake, claimed, to)
            spec["to"] = {"db": to.db, "table": to.table, "location": str(to.location)}
        return self._start(spec, claimed.parent, failpoint, fence=True)

    def start_undo(self, failpoint: str, restore: str) -> subprocess.Popen[str]:
        """Start a process that takes a restore back into the claimed backup."""
        claimed = self.lake.claim(self.run, self.undo_run)
        spec = {**self._claimed("undo", self.undo_run, claimed), "restore": restore}
        return self._start(spec, claimed.parent, failpoint, fence=True)

    def _claimed(self, kind: str, run: str, claimed: LakePath) -> dict[str, Any]:
        numbers = batch_numbers(self.lake.fs, claimed)
        return {"kind": kind, "run": run, "claimed": str(claimed), "batches": numbers}

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

    def state(self, table: str = "t") -> tuple[Any, ...]:
        """Return all that can be seen: what is registered, live and in the backup."""
        name = self.lake.table_name(table)
        found = self.lake.metastore.table_or_none(name)
        names = self.lake.metastore.partition_names(name) if found is not None else None
        live = {key: self.lake.files(self._live(key, table)) for key in self.before.files}
        backup = self.lake.files(self.sealed)
        return (found is not None, names, live, backup)

    def release(self, coordinator: str) -> None:
        """Settle a restore or its undo, twice: the second time must change nothing (I5)."""
        self.lake.release(self.run, coordinator)
        state = self.state(), self.state("t_back")
        self.lake.release(self.run, coordinator)
        if (self.state(), self.state("t_back")) != state:
            raise Broken("I5: settling again changed something")

    def check(self, table: str = "t") -> None:
        """Check the invariants I1 to I6 after a settled run, where data stands under `table`."""
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
            self._check_item(key, files, homes.get(key), table=table)
        outcomes = [(d.item) for b in found if b.done for d in b.done.items]
        if len(outcomes) != len(set(outcomes)):
            raise Broken("I6: an item has more than one outcome")
        if self.lake.snapshot(self.other) != self.bystander:
            raise Broken("I3: something that nobody approved was touched")

    def _check_item(self, key: str, files: Any, home: Any, *, table: str) -> None:
        is_live = self.lake.files(self._live(key, table)) == files
        is_kept = home is not None and self.lake.files(home[0]) == files
        if is_live == is_kept:
            raise Broken(f"I1: the data of {key!r} is live={is_live} and in backup={is_kept}")
        registered = self._is_registered(key, self.lake.table_name(table))
        if is_live and not registered:
            raise Broken(f"I2: {key!r} is live but not registered")
        if is_kept and registered:
            raise Broken(f"I2: {key!r} is registered but its data is in the backup")

    def _is_registered(self, key: str, name: TableName) -> bool:
        table = self.lake.metastore.table_or_none(name)
        if table is None or not key:
            return table is not None
        return key in self.lake.metastore.partition_names(name)

    def _live(self, key: str, table: str) -> LakePath:
        home = self.lake.db_path.child(table)
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

    def check_undone(self, *restores: str) -> None:
        """Take back what is left of restores: the backup is then what it was (I7)."""
        for restore in restores:
            result = undo(self.lake, self.run, restore)
            if set(result.counts) - {Outcome.UNDONE} or result.skipped:
                raise Broken(f"I5: an undo that goes on did {result.counts}: {result.skipped}")
        if backup_of(self.lake, self.run) != self.before.files:
            raise Broken("I7: the backup is not what it was before the restore")
        if self.lake.metastore.table_or_none(self.lake.table_name("t_back")) is not None:
            raise Broken("I3: the table that the restore made is still there")

    def check_equal(self) -> None:
        """Check that everything live is as before (I7)."""
        table = self.lake.metastore.table_or_none(self.name)
        if table is None:
            raise Broken("I2: the table is not registered")
        after: Snapshot = self.lake.snapshot(self.name)
        for part in ("table", "items", "files"):
            if getattr(after, part) != getattr(self.before, part):
                raise Broken(f"I7: {part} differs after the restore")
        belongs = extras_of(self.lake, self.name)
        for part, before in self.belongs.items():
            if belongs[part] != before:
                raise Broken(f"I7: {part} differ after the restore: {belongs[part]}, not {before}")

    def close(self) -> None:
        """Close the connection; the files stay for who wants to look."""
        self.lake.metastore.close()


def expect_killed(process: subprocess.Popen[str]) -> None:
    """Wait for a process that must die at its failpoint; any other end is an error of the grid."""
    out, err = process.communicate(timeout=180)
    if process.returncode != -signal.SIGKILL:
        raise AssertionError(f"not killed but {process.returncode}: {out} {err[-2000:]}")
