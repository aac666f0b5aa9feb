"""Whatever step a move is killed at, its data is whole at one place, and the metastore names it."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from portal.lake.errors import DataSafetyError
from portal.lake.paths import LakePath
from stack.stack import Stack
from tests.faults.move_scene import MoveScene
from tests.faults.scene import expect_killed
from tests.support.act_lake import ActLake
from tests.support.moves import seal_moves


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
    expect_killed(scene.start(point, tmp_path))
    scene.settle(approved=approved)
    is_past_the_call = point.startswith(("alter:after", "done"))
    scene.check(may_have_moved=approved or is_past_the_call)


def test_what_no_step_could_leave_is_for_a_person(lake: ActLake, tmp_path: Path) -> None:
    scene = MoveScene(lake, whole=True)
    expect_killed(scene.start("rename:after:kill", tmp_path))
    home = LakePath.parse(scene.items[0].source)
    lake.make_files(home, n=9)
    with pytest.raises(DataSafetyError, match="cannot be brought to rest"):
        seal_moves(lake, scene.run, approved=True)
    kept = lake.day.moved(scene.run, 1)
    assert any(lake.files(kept.child(name)) for name in lake.fs.names(kept) if name.startswith("b"))
