"""Copies the end of what a driver on a cluster wrote into its spool.

A cluster forgets the output of a container soon after its end, or puts it where only its own
clients read it. The files are those of the JVM, which gets what Python writes as well.
"""

import contextlib
import os
import stat
import threading
import time
from pathlib import Path

from portal.lake.errors import PortalError
from portal.spark.spool import Spool

OUTPUTS = {"stdout": 1, "stderr": 2}
"""What is copied, and where a process has it."""
KEPT_BYTES = 128 * 1024
# The JVM passes on what Python wrote last.
_PASSED_ON_SECONDS = 0.3
_LONGEST_SECONDS = 10.0


class DriverOutput:
    """The output of a process, as far as it is written to files; of a pipe nothing is read."""

    def __init__(self, pid: int) -> None:
        self._copied: dict[str, int] = {}
        self._lock = threading.Lock()
        self._files = {
            name: file for name, fd in OUTPUTS.items() if (file := _opened(pid, fd)) is not None
        }

    def copy(self, spool: Spool) -> None:
        """Write the end of each file that has grown since the last copy; a failure is left out."""
        if not self._lock.acquire(timeout=_LONGEST_SECONDS):
            return  # another thread waits for the file system
        try:
            for name, file in self._files.items():
                size = os.fstat(file).st_size
                if size != self._copied.get(name, 0):
                    spool.write_output(name, _end_of(file, size))
                    self._copied[name] = size
        except (OSError, PortalError):
            return  # what the run came to does not depend on it
        finally:
            self._lock.release()

    def copy_last(self, spool: Spool) -> None:
        """Write the end of each file once everything that was said has arrived there."""
        if self._files:
            time.sleep(_PASSED_ON_SECONDS)
            self.copy(spool)


def _opened(pid: int, fd: int) -> int | None:
    path = Path(f"/proc/{pid}/fd/{fd}")
    with contextlib.suppress(OSError):
        # Reading from a pipe would take what is there from its reader.
        if stat.S_ISREG(path.stat().st_mode):
            return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    return None


def _end_of(file: int, size: int) -> bytes:
    """Return the last lines; of one that is cut nothing, since half a secret looks like none."""
    first = max(0, size - KEPT_BYTES)
    text = os.pread(file, size - first, first)
    return text[text.find(b"\n") + 1 :] if first else text
