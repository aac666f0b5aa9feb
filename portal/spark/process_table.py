"""Reads the kernel's process table of this host: start times, CPU time and group members."""

import functools
import os
import socket
from pathlib import Path

_PROC = Path("/proc")
_STATE, _GROUP, _USER_TICKS, _SYSTEM_TICKS, _START_TICKS = 0, 2, 11, 12, 19
_ENDED = "ZX"


@functools.cache
def host_identity() -> str:
    """Return the name under which process ids of this host mean something.

    The host name alone is not enough: two containers may share one, and a restarted host reuses
    its numbers. Boot id and PID namespace tell them apart. At most 90 characters.
    """
    boot = (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii")
    namespace = (_PROC / "self/ns/pid").stat().st_ino
    return f"{socket.gethostname()[:64]}/{boot[:8]}/{namespace}"


def host_name(identity: str) -> str:
    """Return the part of a host's identity that people know it by."""
    return identity.partition("/")[0]


def start_seconds(pid: int) -> float | None:
    """Return a process's start in seconds after boot; None where it has ended."""
    fields = _fields(pid)
    if fields is None or fields[_STATE] in _ENDED:
        return None
    return int(fields[_START_TICKS]) / _ticks_per_second()


def cpu_seconds(pid: int) -> float:
    """Return the CPU time that a process has used, all its threads together; 0 where it is gone."""
    fields = _fields(pid)
    if fields is None:
        return 0.0
    return (int(fields[_USER_TICKS]) + int(fields[_SYSTEM_TICKS])) / _ticks_per_second()


def group_members(pgid: int) -> list[int]:
    """Return the living processes of a group."""
    found = []
    for pid in all_pids():
        fields = _fields(pid)
        if fields is not None and fields[_STATE] not in _ENDED and int(fields[_GROUP]) == pgid:
            found.append(pid)
    return found


def all_pids() -> list[int]:
    """Return the ids of all processes of this PID namespace."""
    return [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()]


def _fields(pid: int) -> list[str] | None:
    """Return /proc/<pid>/stat from the state on (the name before it may hold spaces)."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()


def _ticks_per_second() -> int:
    return os.sysconf("SC_CLK_TCK")
