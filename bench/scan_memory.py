"""Measures the peak memory and the processor time of a program's processes."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from portal.spark.launch import Launched, is_alive

_STEP_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Usage:
    """Peak resident memory (MB) of the largest process of each name, and processor seconds."""

    peak_mb: dict[str, int]
    cpu_seconds: float


def watch(launched: Launched) -> Usage:
    """Wait until the program has ended, looking at its processes meanwhile."""
    peaks: dict[int, tuple[str, int]] = {}
    ticks: dict[int, int] = {}
    while is_alive(launched):
        for pid, spent in _members(launched.pgid):
            found = peak(pid)
            if found is not None:
                peaks[pid], ticks[pid] = found, spent
        time.sleep(_STEP_SECONDS)
    by_name: dict[str, int] = {}
    for name, kilobytes in peaks.values():
        by_name[name] = max(by_name.get(name, 0), kilobytes // 1024)
    return Usage(by_name, round(sum(ticks.values()) / os.sysconf("SC_CLK_TCK"), 1))


def _members(pgid: int) -> list[tuple[int, int]]:
    """Return pid and ticks spent of each process of the group."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == pgid:
            found.append((int(stat.parent.name), int(fields[11]) + int(fields[12])))
    return found


def peak(pid: int) -> tuple[str, int] | None:
    """Return a process's name and its greatest resident memory in kB; None where it is gone."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return None
    fields = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    if "VmHWM" not in fields:
        return None
    return fields["Name"].strip(), int(fields["VmHWM"].split()[0])
