"""Runs the loops of `manage.py supervise` side by side, and elects the host that leads.

Each loop is a thread with its own database connection, so one that waits for a slow system does
not hold up the others. A loop works only while this process holds the loop's lease. Two leaders at
once, for the seconds of a lease that was lost unnoticed, do no harm: every step is a
compare-and-set. They end once the database is of a newer release.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import DatabaseError, InterfaceError, connection
from django.utils import timezone

from portal.log_context import bound
from portal.runs.claims.leases import lease_release, lease_take
from portal.servers.release import ReleaseWatch

_log = logging.getLogger(__name__)
LEASE = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Loop:
    """Something done again and again, `seconds` apart, by whoever holds `lease`.

    `end` is called once after the last turn and gives back what turns keep between each other.
    """

    name: str
    seconds: float
    turn: Callable[[datetime], None]
    lease: str
    end: Callable[[datetime], None] = lambda _now: None


class Loops:
    """Runs loops until told to stop."""

    def __init__(self, loops: Sequence[Loop], *, holder: str) -> None:
        self._holder = holder
        self._stop = threading.Event()
        self._watch = ReleaseWatch()
        self._threads = [
            threading.Thread(target=self._run, args=(loop,), name=loop.name, daemon=True)
            for loop in loops
        ]
        self._loops = loops

    def start(self) -> None:
        """Start every loop."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Ask every loop to end after its turn."""
        self._stop.set()

    def wait(self) -> None:
        """Wait until told to stop, then give the loops half a minute and the leases back."""
        self._stop.wait()
        for thread in self._threads:
            thread.join(timeout=30)
        for loop in self._loops:
            self._end(loop)
        for name in sorted({loop.lease for loop in self._loops}):
            lease_release(name, holder=self._holder, now=timezone.now())

    def _end(self, loop: Loop) -> None:
        try:
            loop.end(timezone.now())
        except Exception:
            # Whatever it holds ends by itself later; the leases are given back all the same.
            _log.exception("%s: its end failed", loop.name)
            connection.close()

    def _run(self, loop: Loop) -> None:
        while not self._stop.is_set():
            with bound(task=loop.name):
                self._turn(loop)
            self._stop.wait(loop.seconds)
        connection.close()

    def _turn(self, loop: Loop) -> None:
        """One turn; the outer door of a loop, so an unexpected error costs one turn only."""
        try:
            if self._watch.is_former():
                self._stop.set()
                return
            now = timezone.now()
            if lease_take(loop.lease, holder=self._holder, length=LEASE, now=now) is not None:
                loop.turn(now)
        except (DatabaseError, InterfaceError) as error:
            # The second is what a driver says of a line that it has lost already.
            _log.warning("%s: the database did not answer: %s", loop.name, error)
            connection.close()
        except Exception:
            _log.exception("%s: a turn failed", loop.name)
            # A line that a turn lost without a word is lost for the next one, too.
            connection.close()
