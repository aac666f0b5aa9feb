"""Writes and reads the heartbeat of a driver: a small file on the host that launched it.

It lies on the local disk and not in the spool: a NameNode that pauses must not look like a driver
that is frozen. Times are of CLOCK_MONOTONIC, which all processes of a host share.
"""

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

BEAT_VARIABLE = "LW_HEARTBEAT_FILE"
BEAT_SECONDS = 2.0
LAUNCH = "launch"
DRIVER = "driver"
JVM = "JVM"
# A JVM that did not answer for so long while its driver went on is silent.
_UNANSWERED = 3 * BEAT_SECONDS
# Overwritten in place at this size: a full disk must not silence a driver.
_SIZE = 256


@dataclass(frozen=True, slots=True)
class Sign:
    """The part of an application that has been silent for longest."""

    part: str
    pid: int
    at: float

    def silent_seconds(self) -> float:
        """Return for how long nothing was heard of it."""
        return time.monotonic() - self.at


class Heartbeat:
    """Beats until closed: one thread for Python, one that asks the JVM once there is one."""

    def __init__(self, path: Path, *, seconds: float = BEAT_SECONDS) -> None:
        self._seconds = seconds
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._jvm_at: float | None = None
        self._stop = threading.Event()
        self._write()
        self._start(self._beat)

    def ask_jvm(self, ask: Callable[[], object]) -> None:
        """From now on note when the JVM last answered."""
        self._jvm_at = time.monotonic()
        self._start(lambda: self._ask(ask))

    def close(self) -> None:
        """Stop beating."""
        self._stop.set()

    def _start(self, target: Callable[[], None]) -> None:
        threading.Thread(target=target, name="heartbeat", daemon=True).start()

    def _beat(self) -> None:
        while not self._stop.wait(self._seconds):
            self._write()

    def _ask(self, ask: Callable[[], object]) -> None:
        while not self._stop.wait(self._seconds):
            # The job itself meets a JVM that has gone, and says so.
            with contextlib.suppress(Exception):
                ask()
                self._jvm_at = time.monotonic()

    def _write(self) -> None:
        signs = [Sign(DRIVER, os.getpid(), time.monotonic())]
        if self._jvm_at is not None:
            # Under spark-submit the JVM is the process that started this one.
            signs.append(Sign(JVM, os.getppid(), self._jvm_at))
        with contextlib.suppress(OSError):
            os.pwrite(self._file, _dump(signs), 0)


@contextlib.contextmanager
def heartbeat() -> Iterator[Heartbeat | None]:
    """Beat for the length of a block, into the file that the launcher named; None without one."""
    path = os.environ.get(BEAT_VARIABLE)
    beating = Heartbeat(Path(path)) if path else None
    try:
        yield beating
    finally:
        if beating is not None:
            beating.close()


def write_launched(path: Path, pid: int) -> None:
    """Note the launch as the first sign, unless the driver was quicker."""
    with contextlib.suppress(FileExistsError), path.open("xb") as file:
        file.write(_dump([Sign(LAUNCH, pid, time.monotonic())]))


def oldest_sign(path: Path) -> Sign | None:
    """Return the part that has been silent for longest; None where nothing can be read.

    Only a driver that beats can say that its JVM does not: of both together it is the driver.
    """
    try:
        first, *others = [Sign(*row) for row in json.loads(path.read_bytes())]
    except (OSError, ValueError, TypeError):
        return None
    unanswered = [sign for sign in others if first.at - sign.at > _UNANSWERED]
    return unanswered[0] if unanswered else first


def _dump(signs: list[Sign]) -> bytes:
    rows = [[sign.part, sign.pid, sign.at] for sign in signs]
    return json.dumps(rows).encode().ljust(_SIZE)
