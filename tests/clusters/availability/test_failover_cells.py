"""Cells of the fault grid with a failover, on a lake whose file system really fails over.

All of them: `python -m tests.faults.grid available RESULTS`. Moves have no cells there.
"""

import uuid
from pathlib import Path

import pytest

from stack.ha_stack import HaStack
from stack.servers.ha_hdfs import HaHdfs
from tests.faults.failover import fail_over_amid
from tests.faults.grid import Case, failover_cases, run_case
from tests.faults.move_scene import MoveScene
from tests.support.act_lake import ActLake

# Where data and metadata go apart, each way to fail over; shapes, kinds and approvals in turn.
_CASES = [
    Case("drop-failover", "intent:after:hands over", "table", "managed", approved=True),
    Case("drop-failover", "rename:before:freezes", "parts", "managed", approved=True),
    Case("drop-failover", "rename:after:dies", "parts", "external", approved=False),
    Case("drop-failover", "drop:send:freezes", "table", "external", approved=True),
    Case("drop-failover", "done:before:hands over", "parts", "managed", approved=False),
    Case("restore-failover", "rename:before:dies", "table", "managed", approved=True),
    Case("restore-failover", "register:send:freezes", "parts", "external", approved=True),
    Case("restore-failover", "done:before:hands over", "table", "external", approved=True),
    Case("restore-as-failover", "rename:after:hands over", "parts", "managed", approved=True),
    Case("undo-failover", "rename:after:freezes", "parts", "external", approved=True),
    Case("undo-failover", "drop:after:dies", "table", "managed", approved=True),
]


def test_the_cells_of_this_tier_are_of_the_grid() -> None:
    assert {case.name for case in _CASES} <= {case.name for case in failover_cases()}


@pytest.mark.parametrize("case", _CASES, ids=lambda case: case.name)
def test_a_failover_at_a_step_loses_nothing(available: HaStack, ha: HaHdfs, case: Case) -> None:
    run_case(available.config(), case, ha=ha)


@pytest.mark.parametrize(
    ("point", "how", "whole", "approved"),
    [
        ("rename:before", "freezes", False, True),
        ("place:before", "dies", True, False),
        ("place:after", "hands over", False, False),
        ("alter:send", "freezes", True, True),
        ("done:before", "dies", False, True),
    ],
)
def test_a_failover_at_a_step_of_a_move_loses_nothing(
    available: HaStack,
    ha: HaHdfs,
    tmp_path: Path,
    point: str,
    how: str,
    whole: bool,
    approved: bool,
) -> None:
    scene = MoveScene(ActLake(available.config(), uuid.uuid4().hex[:8]), whole=whole)
    fail_over_amid(scene.start(f"{point}:stop", tmp_path), how, ha)
    scene.settle(approved=approved)
    n_moved = scene.check(may_have_moved=True)
    # A process that got its answers has moved everything; settling goes on only if it may.
    assert n_moved == len(scene.items) or how == "freezes" or not approved
    scene.lake.metastore.close()
