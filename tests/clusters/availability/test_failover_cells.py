"""Cells of the fault grid with a failover, on a lake whose file system really fails over.

All of them: `python -m tests.faults.grid available RESULTS`.
"""

import pytest

from stack.ha_stack import HaStack
from stack.servers.ha_hdfs import HaHdfs
from tests.faults.grid import Case, failover_cases, run_case

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
