"""Runs what a change needs at once: format, lint, types, imports, spelling and the unit tests."""

import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from stack.gate import TEST_SETTINGS, TIERS, Gate, gates, run_quietly

_QUICK_GATES = {"format", "lint", "types", "imports", "spelling"}


def run_check(arguments: Sequence[str]) -> int:
    """Run the quick gates and the unit tests side by side; arguments go to pytest.

    Property tests try fewer examples than in the gate.
    """
    pytest = [sys.executable, "-m", "pytest", "-q", "-n", str(os.cpu_count() or 2)]
    pytest += ["--dist=loadgroup"]
    unit = [*pytest, "--hypothesis-profile=quick", *arguments, *TIERS["unit"]]
    wanted: list[Gate] = [
        ("unit tests", unit, TEST_SETTINGS),
        *(gate for gate in gates() if gate[0] in _QUICK_GATES),
    ]
    with ThreadPoolExecutor(max_workers=2) as pool:
        held = list(pool.map(run_quietly, wanted))
    return 0 if all(held) else 1
