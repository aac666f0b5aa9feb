"""Whatever step an acting process is killed at, nothing is lost: the part of the grid that CI runs.

The whole grid is `python -m tests.faults.grid`; it can be stopped and gone on with.
"""

import pytest

from stack.stack import Stack
from tests.faults.grid import DROP_STEPS, RESTORE_STEPS, Case, all_cases, run_case
from tests.faults.unsure import CHANGES

# Every step before and after once, shapes and approvals in turn: each meets each other somewhere.
_CI = [
    case
    for n, step in enumerate(DROP_STEPS)
    for case in (
        Case("drop", f"{step}:before:kill", "parts", "external", approved=n % 2 == 0),
        Case(
            "drop", f"{step}:after:kill", ("parts", "table")[n % 2], "managed", approved=n % 2 == 1
        ),
    )
] + [
    Case("restore", f"{step}:{moment}:kill", ("table", "parts")[n % 2], "managed", approved=True)
    for n, step in enumerate(RESTORE_STEPS)
    for moment in ("before", "after")
]
# Between its first move and its last word an undo is tried everywhere; so is another name's table.
_BACK = [
    Case("undo", "intent:after:kill", "table", "external", approved=True),
    Case("undo", "rename:after:kill", "parts", "managed", approved=True),
    Case("undo", "listing:after:kill", "table", "managed", approved=True),
    Case("undo", "drop:send:kill", "parts", "external", approved=True),
    Case("undo", "drop:after:kill", "parts", "managed", approved=True),
    Case("undo", "done:before:kill", "table", "managed", approved=True),
    Case("undo", "table:before:kill", "parts", "external", approved=True),
    Case("restore-as", "rename:after:kill", "parts", "external", approved=True),
    Case("restore-as", "register:send:kill", "parts", "managed", approved=True),
    Case("restore-as", "done:before:kill", "table", "managed", approved=True),
]
# Of every remote effect one lost answer, and each change while settle waits; nothing dies in these.
_OUTCOME_UNKNOWN = [
    Case("drop-lost", "rename:unanswered", "parts", "managed", approved=True),
    Case("drop-lost", "rename:repeated", "table", "external", approved=False),
    Case("drop-lost", "drop:unanswered", "parts", "external", approved=True),
    Case("restore-lost", "rename:unanswered", "table", "managed", approved=True),
    Case("restore-lost", "register:unanswered", "parts", "managed", approved=True),
    Case("restore-as-lost", "register:unanswered", "table", "external", approved=True),
    Case("undo-lost", "rename:repeated", "parts", "managed", approved=True),
    Case("undo-lost", "drop:unanswered", "table", "managed", approved=True),
    Case("move-lost", "rename:unsent", "parts", "managed", approved=True),
    Case("move-lost", "place:unanswered", "table", "external", approved=True),
    Case("move-lost", "alter:unanswered", "parts", "external", approved=False),
    Case("settle-lost", "rename:unanswered", "parts", "managed", approved=False),
    Case("settle-lost", "drop:unanswered", "table", "managed", approved=True),
    Case("settle-move-lost", "alter:unanswered", "table", "managed", approved=True),
    Case("purge-lost", "file:unanswered", "parts", "managed", approved=True),
    Case("purge-lost", "retire:unanswered", "table", "managed", approved=True),
    # A failover that lasts: the driver gets no word of what it did, and none of anything else.
    Case("drop-lost", "rename:silent", "table", "managed", approved=True),
    Case("drop-lost", "rename:silent", "parts", "external", approved=False),
    Case("drop-lost", "rename:silent-unsent", "parts", "managed", approved=True),
    Case("restore-lost", "rename:silent", "parts", "external", approved=True),
    Case("restore-as-lost", "rename:silent-unsent", "table", "managed", approved=True),
    Case("undo-lost", "rename:silent", "table", "external", approved=True),
    Case("move-lost", "place:silent", "parts", "managed", approved=True),
    Case("settle-lost", "rename:silent", "table", "external", approved=False),
    Case("settle-move-lost", "rename:silent", "parts", "managed", approved=False),
    Case("purge-lost", "file:silent", "table", "managed", approved=True),
    Case("purge-lost", "retire:silent", "parts", "external", approved=True),
    *(
        Case("waited", change, ("parts", "table")[n % 2], "managed", approved=n < 2)
        for n, change in enumerate(CHANGES)
    ),
]


def test_ci_runs_at_least_24_cells_of_the_grid() -> None:
    known = {case.name for case in all_cases()}
    assert len(_CI) >= 24
    assert {case.name for case in _CI + _BACK + _OUTCOME_UNKNOWN} <= known


@pytest.mark.parametrize("case", _OUTCOME_UNKNOWN, ids=lambda case: case.name)
def test_an_answer_that_is_lost_loses_nothing(embedded_stack: Stack, case: Case) -> None:
    run_case(embedded_stack.config("main"), case)


@pytest.mark.parametrize("case", _CI + _BACK, ids=lambda case: case.name)
def test_a_killed_process_loses_nothing(embedded_stack: Stack, case: Case) -> None:
    run_case(embedded_stack.config("main"), case)
