"""Runs what a change needs at once: format, lint, types, imports, spelling and the unit tests."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from stack.gate import TEST_SETTINGS, TIERS, gates
from stack.places import REPO
from stack.say import console

_QUICK_GATES = {"format", "lint", "types", "imports", "spelling"}
_WORDS = 6000


@dataclass(frozen=True, slots=True)
class _Done:
    title: str
    words: str
    is_good: bool
    seconds: float


def run_check(arguments: Sequence[str]) -> int:
    """Run the quick gates and the unit tests side by side; arguments go to pytest.

    Property tests try fewer examples than in the gate.
    """
    pytest = [sys.executable, "-m", "pytest", "-q", "-n", str(os.cpu_count() or 2)]
    unit = [*pytest, "--hypothesis-profile=quick", *arguments, *TIERS["unit"]]
    wanted: list[tuple[str, Sequence[str], Mapping[str, str]]] = [
        ("unit tests", unit, TEST_SETTINGS),
        *(gate for gate in gates() if gate[0] in _QUICK_GATES),
    ]
    with ThreadPoolExecutor(max_workers=2) as pool:
        done = list(pool.map(_run, wanted))
    for one in done:
        mark = "[green]✓[/]" if one.is_good else "[red]✗[/]"
        console.print(f"{mark} {one.title} [dim]{one.seconds:.1f} s[/]")
        if not one.is_good:
            console.print(one.words[-_WORDS:], markup=False, soft_wrap=True)
    return 0 if all(one.is_good for one in done) else 1


def _run(wanted: tuple[str, Sequence[str], Mapping[str, str]]) -> _Done:
    title, command, settings = wanted
    began = time.monotonic()
    done = subprocess.run(
        command,
        check=False,
        cwd=REPO,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
    )
    seconds = time.monotonic() - began
    return _Done(title, done.stdout + done.stderr, done.returncode == 0, seconds)
