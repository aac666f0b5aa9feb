"""A table whose data is moved, driver processes that move it, and what they may have left."""

import json
import os
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

from lifecycle.backup.engine.move.records import MoveItem
from portal.lake.names import TableName
from portal.lake.paths import LakePath
from tests.support.act_lake import ActLake
from tests.support.moves import move_of, move_rules, move_specification, moves_of, seal_moves

_ROOT = Path(__file__).resolve().parents[2]
_VALUES = [("a b",), ("50%",)]


class MoveScene:
    """A partitioned table that is moved whole, or whose partitions are moved one by one."""

    def __init__(self, lake: ActLake, *, whole: bool) -> None:
        self.lake = lake
        self.name: TableName = lake.make_table("t", keys=("dt",), values=_VALUES)
        self.before = lake.snapshot(self.name)
        home, away = lake.db_path.child("t"), lake.db_path.child("away")
        if whole:
            self.items: list[MoveItem] = moves_of(lake, self.name, away)
        else:
            lake.fs.make_directory(away, mode=0o755)
            self.items = [
                move_of(lake, self.name, part, home.child(part), away.child(part))
                for part in sorted(self.before.files)
            ]
        self.run = str(uuid.uuid4())

    def start(self, failpoint: str, folder: Path) -> subprocess.Popen[str]:
        """Start a driver process that moves, behind a fresh fence."""
        specification = folder / "spec.json"
        spec = move_specification(self.lake.config, self.lake, self.run, self.items)
        specification.write_text(json.dumps(spec))
        return subprocess.Popen(
            [sys.executable, "-m", "tests.faults.driver", str(specification)],
            cwd=_ROOT,
            env={**os.environ, "LW_FAILPOINTS_ENABLED": "1", "LW_FAILPOINT": failpoint},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def settle(self, *, approved: bool) -> None:
        """Seal and settle, twice: the second time must change nothing."""
        seal_moves(self.lake, self.run, approved=approved)
        state = self.state()
        assert seal_moves(self.lake, self.run, approved=approved) == {}
        assert self.state() == state

    def state(self) -> tuple[Any, ...]:
        """Return all that can be seen of it."""
        found = self.lake.snapshot(self.name)
        return found.table, found.items, found.files

    def check(self, *, may_have_moved: bool) -> int:
        """Each item is whole where the metastore says, and nowhere else; nothing else changed.

        Returns how many have moved.
        """
        n_moved = 0
        found = self.lake.snapshot(self.name)
        assert found.files == self.before.files
        for item in self.items:
            source, target = LakePath.parse(item.source), LakePath.parse(item.target)
            is_old, is_new = bool(self.lake.files(source)), bool(self.lake.files(target))
            assert is_old is not is_new, (item, is_old, is_new)
            assert may_have_moved or is_old
            assert self._registered(item) == (target if is_new else source)
            n_moved += is_new
        for key, struct in found.items.items():
            expected = {**self.before.items[key], "sd": struct["sd"]}
            assert struct == expected
        return n_moved

    def _registered(self, item: MoveItem) -> LakePath | None:
        table = self.lake.metastore.table(self.name)
        struct = None
        if item.partition:
            (struct,) = self.lake.metastore.partitions_by_names(self.name, [item.partition])
        return move_rules(self.lake).location(table, struct)
