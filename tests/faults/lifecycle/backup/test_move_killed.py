"""Whatever step a move is killed at, its data is whole at one place, and the metastore names it."""

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lifecycle.backup.engine.move.records import MoveItem
from portal.lake.errors import DataSafetyError
from portal.lake.names import TableName
from portal.lake.paths import LakePath
from stack.stack import Stack
from tests.faults.scene import expect_killed
from tests.support.act_lake import ActLake
from tests.support.moves import move_of, move_rules, move_specification, moves_of, seal_moves

_ROOT = Path(__file__).resolve().parents[4]
_VALUES = [("a b",), ("50%",)]


class MoveScene:
    """A partitioned table that is moved whole, or whose partitions are moved one by one."""

    def __init__(self, lake: ActLake, *, whole: bool) -> None:
        self.lake = lake
        self.name: TableName = lake.make_table("t", keys=("dt",), values=_VALUES)
        self.before = lake.snapshot(self.name)
        home, away = lake.db_path.child("t"), lake.base.child("away")
        if whole:
            self.items: list[MoveItem] = moves_of(lake, self.name, away)
        else:
            lake.fs.make_directory(away, mode=0o755)
            self.items = [
                move_of(lake, self.name, part, home.child(part), away.child(part))
                for part in sorted(self.before.files)
            ]
        self.run = str(uuid.uuid4())

    def kill_at(self, failpoint: str, folder: Path) -> None:
        """Let a driver process move, and die."""
        specification = folder / "spec.json"
        spec = move_specification(self.lake.config, self.lake, self.run, self.items)
        specification.write_text(json.dumps(spec))
        expect_killed(
            subprocess.Popen(
                [sys.executable, "-m", "tests.faults.driver", str(specification)],
                cwd=_ROOT,
                env={**os.environ, "LW_FAILPOINTS_ENABLED": "1", "LW_FAILPOINT": failpoint},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )

    def state(self) -> tuple[Any, ...]:
        """Return all that can be seen of it."""
        found = self.lake.snapshot(self.name)
        return found.table, found.items, found.files

    def check(self, *, may_have_moved: bool) -> None:
        """Each item is whole where the metastore says, and nowhere else; nothing else changed."""
        found = self.lake.snapshot(self.name)
        assert found.files == self.before.files
        for item in self.items:
            source, target = LakePath.parse(item.source), LakePath.parse(item.target)
            is_old, is_new = bool(self.lake.files(source)), bool(self.lake.files(target))
            assert is_old is not is_new, (item, is_old, is_new)
            assert may_have_moved or is_old
            assert self._registered(item) == (target if is_new else source)
        for key, struct in found.items.items():
            expected = {**self.before.items[key], "sd": struct["sd"]}
            assert struct == expected

    def _registered(self, item: MoveItem) -> LakePath | None:
        table = self.lake.metastore.table(self.name)
        struct = None
        if item.partition:
            (struct,) = self.lake.metastore.partitions_by_names(self.name, [item.partition])
        return move_rules(self.lake).location(table, struct)


@pytest.fixture
def lake(embedded_stack: Stack) -> Iterator[ActLake]:
    made = ActLake(embedded_stack.config("main"), uuid.uuid4().hex[:8])
    yield made
    made.metastore.close()


@pytest.mark.parametrize(
    ("point", "whole", "approved"),
    [
        ("intent:after:kill", True, True),
        ("rename:after:kill", True, True),
        ("rename:after:kill", False, False),
        ("place:before:kill:2", False, True),
        ("place:after:kill", True, False),
        ("alter:send:kill", True, True),
        ("alter:send:kill:2", True, False),
        ("alter:after:kill", False, False),
        ("done:before:kill", True, False),
    ],
)
def test_a_killed_move_is_brought_to_rest(
    lake: ActLake, tmp_path: Path, point: str, whole: bool, approved: bool
) -> None:
    scene = MoveScene(lake, whole=whole)
    scene.kill_at(point, tmp_path)
    seal_moves(lake, scene.run, approved=approved)
    state = scene.state()
    assert seal_moves(lake, scene.run, approved=approved) == {}
    assert scene.state() == state
    is_past_the_call = point.startswith(("alter:after", "done"))
    scene.check(may_have_moved=approved or is_past_the_call)


def test_what_no_step_could_leave_is_for_a_person(lake: ActLake, tmp_path: Path) -> None:
    scene = MoveScene(lake, whole=True)
    scene.kill_at("rename:after:kill", tmp_path)
    home = LakePath.parse(scene.items[0].source)
    lake.make_files(home, n=9)
    with pytest.raises(DataSafetyError, match="cannot be brought to rest"):
        seal_moves(lake, scene.run, approved=True)
    kept = lake.day.moved(scene.run, 1)
    assert any(lake.files(kept.child(name)) for name in lake.fs.names(kept) if name.startswith("b"))
