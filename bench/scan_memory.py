"""How much memory do a program's processes take at their peak?"""

import time
from pathlib import Path

from portal.spark.launch import Launched, is_alive

_STEP_SECONDS = 0.2


def watch_peak(launched: Launched) -> dict[str, int]:
    """Wait until the program has ended; give the peak resident memory (MB) by kind of process."""
    peaks: dict[int, tuple[str, int]] = {}
    while is_alive(launched):
        for pid in _members(launched.pgid):
            found = _peak(pid)
            if found is not None:
                peaks[pid] = found
        time.sleep(_STEP_SECONDS)
    by_kind: dict[str, int] = {}
    for name, kilobytes in peaks.values():
        by_kind[name] = max(by_kind.get(name, 0), kilobytes // 1024)
    return by_kind


def _members(pgid: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == pgid:
            found.append(int(stat.parent.name))
    return found


def _peak(pid: int) -> tuple[str, int] | None:
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return None
    fields = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    if "VmHWM" not in fields:
        return None
    return fields["Name"].strip(), int(fields["VmHWM"].split()[0])
