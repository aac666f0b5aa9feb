"""How one server process is started, found again, waited for and ended.

A process is known by pid + start time (a pid alone may be somebody else's tomorrow) and ended by
its own process group.
"""

import os
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import chain, count, islice
from pathlib import Path

from stack.errors import StackError

LOOPBACK = "127.0.0.1"
_PORTS = range(16_384, 32_768)
_TRIES = 200
# From a place by chance on, so that processes that begin together seldom meet.
_steps = count(secrets.randbelow(len(_PORTS)))
# These JVMs live for minutes: the optimizing compiler would cost more than it saves. Without it a
# JVM has 48 MiB for compiled code, which Spark fills; sweeping it took a third of a long session.
SHORT_LIVED_JVM = (
    "-XX:TieredStopAtLevel=1",
    "-XX:ReservedCodeCacheSize=240m",
    "-XX:+UseSerialGC",
)


@dataclass(frozen=True, slots=True)
class ProcessRecord:
    """What is kept of a started process, enough to end it from another process."""

    name: str
    pid: int
    started: int
    pgid: int
    log: str
    port: int | None = None

    def as_dict(self) -> dict[str, object]:
        """Return the JSON form."""
        return asdict(self)


def start_time(pid: int) -> int | None:
    """Return the start time in clock ticks since boot, or None for a process gone or a zombie."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = text.rsplit(")", 1)[1].split()
    return None if fields[0] == "Z" else int(fields[19])


def is_running(record: ProcessRecord) -> bool:
    """Whether this very process is still there."""
    return start_time(record.pid) == record.started


def group_members(pgid: int) -> list[int]:
    """Return the living processes of a group."""
    members = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and start_time(int(entry.name)) is not None:
            try:
                if os.getpgid(int(entry.name)) == pgid:
                    members.append(int(entry.name))
            except ProcessLookupError:
                continue
    return members


def stop_still(pid: int) -> None:
    """Stop a process as it is (SIGSTOP), and wait until none of its threads does anything more.

    The signal alone returns before: on a busy machine a call was still answered.

    Raises:
        StackError: a thread still runs after 20 s.
    """
    os.kill(pid, signal.SIGSTOP)
    deadline = time.monotonic() + 20
    while not all(_is_still(task) for task in Path(f"/proc/{pid}/task").iterdir()):
        if time.monotonic() > deadline:
            raise StackError(f"Process {pid} was told to stop and goes on after 20 s.")
        time.sleep(0.01)


def _is_still(task: Path) -> bool:
    try:
        text = (task / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True  # it ended
    return text.rsplit(")", 1)[1].split()[0] in "TtZX"


def end_group(pgid: int, *, grace_seconds: float = 10) -> None:
    """Ask a group to end (not with a grace of 0), then make it; returns when it is empty."""
    steps = [(signal.SIGTERM, grace_seconds), (signal.SIGKILL, 10.0)]
    for number, seconds in steps if grace_seconds else steps[1:]:
        try:
            os.killpg(pgid, number)
        except ProcessLookupError:
            return
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if not group_members(pgid):
                return
            time.sleep(0.05)


def free_port(host: str = LOOPBACK, *, wanted: int = 0) -> int:
    """Return a port of a loopback address that is free now, the wanted one if that is.

    The others are below those that Linux gives to outgoing connections and to servers that ask for
    none, and no process gives one twice: a server that starts a minute later, or once more, finds
    its port free.
    """
    others = (_PORTS[step % len(_PORTS)] for step in islice(_steps, _TRIES))
    for port in chain((wanted,) if wanted else (), others):
        with socket.socket() as probe, suppress(OSError):
            # Connections of its last user that still wind down are no hindrance.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
            return port
    raise StackError(f"No port is free on {host}.")


def port_answers(port: int) -> bool:
    """Whether somebody accepts connections on the loopback port."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((LOOPBACK, port)) == 0


def tail(log: Path, *, lines: int = 15) -> str:
    """Return a log's last lines for an error message."""
    try:
        return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])
    except OSError:
        return "(no log)"


class ServerProcess:
    """One child process in its own session, with its output in a log file."""

    def __init__(self, name: str, log: Path) -> None:
        self.name = name
        self.log = log
        self._child: subprocess.Popen[bytes] | None = None
        self._log_began = 0

    def start(
        self,
        argv: Sequence[str],
        *,
        environment: Mapping[str, str],
        cwd: Path | None = None,
        port: int | None = None,
    ) -> ProcessRecord:
        """Start the process; returns at once."""
        self.log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.log.touch(mode=0o600)
        self._log_began = self.log.stat().st_size
        with self.log.open("ab") as output:
            self._child = subprocess.Popen(
                list(argv),
                env=dict(environment),
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        pid = self._child.pid
        return ProcessRecord(self.name, pid, start_time(pid) or 0, pid, str(self.log), port)

    @property
    def pid(self) -> int:
        """The process id of the running child."""
        if self._child is None:
            raise StackError(f"{self.name} was not started.")
        return self._child.pid

    def said(self) -> str:
        """Return what stands in the log since the start: the file is kept from run to run."""
        with self.log.open("rb") as log:
            log.seek(self._log_began)
            return log.read().decode(errors="replace")

    def is_alive(self) -> bool:
        """Whether the child runs."""
        return self._child is not None and self._child.poll() is None

    def wait_until(self, is_ready: Callable[[], bool], *, timeout_seconds: float) -> None:
        """Wait until `is_ready()`; a child that dies or is late is a StackError naming its log."""
        deadline = time.monotonic() + timeout_seconds
        while not is_ready():
            if not self.is_alive():
                code = None if self._child is None else self._child.returncode
                raise StackError(
                    f"{self.name} ended with code {code} before it was ready. "
                    f"Its log is {self.log}:\n{tail(self.log)}"
                )
            if time.monotonic() > deadline:
                raise StackError(
                    f"{self.name} was not ready after {timeout_seconds:.0f} s. "
                    f"Its log is {self.log}:\n{tail(self.log)}"
                )
            time.sleep(0.1)

    def stop(self, *, grace_seconds: float = 10) -> None:
        """End the whole process group; twice does nothing."""
        if self._child is None:
            return
        end_group(self._child.pid, grace_seconds=grace_seconds)
        self._child.wait(timeout=10)
        self._child = None
