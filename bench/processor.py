"""Measures the processor time used so far by this program and everything that it started.

Wall-clock time on a machine with other work says little; processor time says what a thing costs.
"""

import os
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
# Fields of /proc/<pid>/stat after the name: parent, then user, system, and those of ended children.
_PARENT, _FIRST, _LAST = 1, 11, 15


def processor_seconds() -> float:
    """Sum up this process and its descendants, also those that have ended and were waited for."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue  # it has just ended
        pid = int(path.parent.name)
        parents[pid] = int(fields[_PARENT])
        ticks[pid] = sum(map(int, fields[_FIRST:_LAST]))
    ours = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return sum(ticks[pid] for pid in ours) / _TICKS
